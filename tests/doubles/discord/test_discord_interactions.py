"""Buttons, menus, forms and commands through the real discord.py."""

from typing import Any

import pytest

from tests.doubles.discord.client import Client, connected
from tests.doubles.discord.interaction import Callback
from tests.doubles.discord.library import app_commands, discord, ui
from tests.doubles.discord.model import Channel, Guild, MessageFlag, Person
from tests.doubles.discord.server import DiscordServer

Use = discord.Interaction[Any]


class Vote(ui.DynamicItem[ui.Button[Any]], template=r"fb:(?P<answer>\d+):(?P<vote>up|down|fix|file)"):
    """A button that works after a restart."""

    def __init__(self, answer: str, vote: str) -> None:
        super().__init__(
            ui.Button(custom_id=f"fb:{answer}:{vote}", label=vote, emoji={"up": "👍", "down": "👎"}.get(vote))
        )
        self.answer, self.vote = answer, vote

    @classmethod
    async def from_custom_id(cls, interaction: Use, item: Any, match: Any, /) -> "Vote":
        return cls(match["answer"], match["vote"])

    async def callback(self, interaction: Use) -> None:
        if self.vote == "up":
            await interaction.response.defer()
            await interaction.followup.send(f"Saved {self.answer}", ephemeral=True)
        elif self.vote == "down":
            await interaction.response.send_modal(Correction())
        else:
            await interaction.response.edit_message(content="corrected", view=None)


class Correction(ui.Modal, title="What would have been right?"):
    """The form of the real library's newest parts."""

    reason: ui.Label[Any] = ui.Label(
        text="Reason",
        component=ui.RadioGroup(
            custom_id="reason",
            options=[discord.RadioGroupOption(label=label, value=label.lower()) for label in ("Wrong", "Unclear")],
        ),
    )
    text: ui.Label[Any] = ui.Label(
        text="Correction", component=ui.TextInput(custom_id="text", style=discord.TextStyle.long, required=False)
    )
    share: ui.Label[Any] = ui.Label(
        text="Who may see it",
        component=ui.CheckboxGroup(
            custom_id="share",
            required=False,
            options=[discord.CheckboxGroupOption(label=label, value=label) for label in ("me", "channel")],
        ),
    )
    retry: ui.Label[Any] = ui.Label(text="Try again", component=ui.Checkbox(custom_id="retry"))

    async def on_submit(self, interaction: Use, /) -> None:
        parts = [self.reason.component, self.text.component, self.share.component, self.retry.component]
        values = [getattr(part, "values", None) or getattr(part, "value", None) for part in parts]
        await interaction.response.send_message(f"{values}", ephemeral=True)


class WithCommands(Client):
    """A client with a button, a group of commands and a context menu."""

    async def setup_hook(self) -> None:
        await super().setup_hook()
        self.add_dynamic_items(Vote)
        group = app_commands.Group(name="goodbot", description="The bot")

        @group.command(name="memory", description="What it remembers")
        @app_commands.describe(page="Which page", of="Whose")
        async def memory(interaction: Use, page: int = 1, of: discord.Member | None = None) -> None:
            await interaction.response.defer(thinking=True, ephemeral=True)
            await interaction.followup.send(f"page {page} of {of.name if of else 'all'}")
            await interaction.followup.send("and in public")

        @group.command(name="privacy", description="What is kept")
        async def privacy(interaction: Use) -> None:
            await interaction.response.send_message("draft", ephemeral=True)
            await interaction.edit_original_response(content="final")
            original = await interaction.original_response()
            await interaction.followup.send(original.content)
            await interaction.delete_original_response()

        @app_commands.context_menu(name="Teach the bot…")
        async def teach(interaction: Use, message: discord.Message) -> None:
            await interaction.response.send_message(f"learned: {message.content}")

        self.tree.add_command(group)
        self.tree.add_command(teach)
        await self.tree.sync()


@pytest.fixture
def client_kind() -> type[Client]:
    return WithCommands


async def answer_with_buttons(client: Client, channel: Channel) -> discord.Message:
    """An answer of the bot with its row of buttons."""
    view = ui.View(timeout=None)
    for vote in ("up", "down", "fix"):
        view.add_item(Vote("7", vote))
    view.add_item(ui.Button(label="off", custom_id="off", disabled=True))
    view.add_item(ui.Button(label="docs", url="https://example.org"))
    return await client.get_partial_messageable(int(channel.id), guild_id=int(channel.guild_id)).send(
        "Paris", view=view
    )


# buttons and forms


async def test_a_button_is_acknowledged_silently_and_followed_up_in_private(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    sent = await answer_with_buttons(client, general)
    click = server.clicks(ana, str(sent.id), "👍")
    await server.until(lambda: click.private_replies)

    assert click.answer is Callback.DEFERRED_UPDATE
    assert click.text == "Saved 7"
    assert [message.content for message in server.said(general)] == ["Paris"]
    with pytest.raises(discord.NotFound):
        await client.get_partial_messageable(int(general.id)).fetch_message(int(click.followups[0].id))


async def test_a_button_that_no_longer_waits_still_works(server: DiscordServer, general: Channel, ana: Person) -> None:
    async with connected(server, WithCommands()) as before:
        sent = await answer_with_buttons(before, general)
    async with connected(server, WithCommands()):
        click = server.clicks(ana, str(sent.id), "fb:7:fix")
        await server.until(lambda: click.answer)

    assert click.answer is Callback.UPDATE_MESSAGE
    assert (server.current(str(sent.id)).content, server.current(str(sent.id)).components) == ("corrected", ())
    assert click.replies == []


async def test_a_button_on_a_private_message_changes_it_for_that_person_alone(
    server: DiscordServer, client: Client, guild: Guild, general: Channel, ana: Person
) -> None:
    sent = await answer_with_buttons(client, general)
    first = server.clicks(ana, str(sent.id), "up")
    [use] = await client.hears("interaction")
    await server.until(lambda: first.private_replies)
    view = ui.View(timeout=None).add_item(Vote("7", "fix"))
    await use.followup.send("Undo?", view=view, ephemeral=True)
    private = first.private_replies[-1]
    second = server.clicks(ana, private, "fix")
    await server.until(lambda: second.answer)

    assert (server.current(private).content, second.replies) == ("corrected", [])
    assert [message.content for message in first.private_replies] == ["Saved 7", "corrected"]
    assert [message.content for message in server.said(general)] == ["Paris"]
    with pytest.raises(AssertionError, match="ben cannot see"):
        server.clicks(server.person("ben", guild), private, "fix")


async def test_what_is_not_there_or_not_usable_cannot_be_clicked(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    sent = await answer_with_buttons(client, general)
    for button, why in (("nothing", "no 'nothing' on the message"), ("off", "disabled"), ("docs", "is a link")):
        with pytest.raises(AssertionError, match=why):
            server.clicks(ana, str(sent.id), button)


async def test_a_form_is_opened_filled_in_and_sent(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    sent = await answer_with_buttons(client, general)
    click = server.clicks(ana, str(sent.id), "down")
    await server.until(lambda: click.modal)
    both = ["me", "channel"]
    submitted = server.submits(click, {"Reason": "Unclear", "text": "Berlin", "Who may see it": both, "retry": True})
    least = server.submits(click, {"reason": "wrong"})
    await server.until(lambda: submitted.answer and least.answer)

    assert click.modal
    assert click.modal["title"] == "What would have been right?"
    assert submitted.text == "['unclear', 'Berlin', ['me', 'channel'], True]"
    assert least.text == "['wrong', '', None, False]"
    assert len(submitted.private_replies) == 1


async def test_a_form_that_is_not_complete_cannot_be_sent(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    sent = await answer_with_buttons(client, general)
    click = server.clicks(ana, str(sent.id), "down")
    await server.until(lambda: click.modal)
    wrong: list[tuple[dict[str, str | bool | list[str]], str]] = [
        ({}, "'Reason' must be chosen"),
        ({"Reason": "Odd"}, "offers"),
        ({"Reason": "Wrong", "Else": "x"}, "has no"),
        ({"Reason": "Wrong", "text": "a" * 4001}, "0 to 4000"),
    ]
    for answers, why in wrong:
        with pytest.raises(AssertionError, match=why):
            server.submits(click, answers)


async def test_a_select_menu_sends_what_was_chosen(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    view = ui.View(timeout=None)
    chosen: list[str] = []

    class Menu(ui.Select[Any]):
        async def callback(self, interaction: Use) -> None:
            chosen.extend(self.values)
            await interaction.response.defer()

    view.add_item(Menu(custom_id="menu", options=[discord.SelectOption(label=label) for label in "abc"]))
    sent = await client.get_partial_messageable(int(general.id)).send("choose", view=view)
    use = server.selects(ana, str(sent.id), "menu", "b")
    await server.until(lambda: use.answer)
    assert chosen == ["b"]


# commands


async def test_a_slash_command_is_deferred_then_answered_in_private(
    server: DiscordServer, client: Client, guild: Guild, general: Channel, ana: Person
) -> None:
    ben = server.person("ben", guild)
    use = server.slash(ana, general, "goodbot memory", {"page": 2, "of": ben})
    await server.until(lambda: len(use.replies) == 2)
    first, second = use.replies

    assert use.answer is Callback.DEFERRED_MESSAGE
    assert first.content == "page 2 of ben"
    assert MessageFlag.EPHEMERAL in first.flags
    assert (second.content, second.ephemeral_to) == ("and in public", "")
    assert [message.content for message in server.said(general)] == ["and in public"]


async def test_an_answer_is_edited_read_and_deleted(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    use = server.slash(ana, general, "goodbot privacy")
    await server.until(lambda: use.followups and use.original is None)
    assert use.text == "final"
    assert [call.method for call in server.calls("* /webhooks/*/*/messages/@original")] == ["PATCH", "GET", "DELETE"]


async def test_a_context_menu_shows_the_text_of_any_message(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    about = server.says(ana, general, "the key is under the pot")
    use = server.uses_menu(ana, about, "Teach the bot…")
    await server.until(lambda: use.replies)
    [hidden, _] = await client.hears("message", 2)

    assert use.text == "learned: the key is under the pot"
    assert hidden.content == ""


async def test_commands_are_written_once_and_keep_their_ids(server: DiscordServer, client: Client) -> None:
    before = {command["name"]: command["id"] for command in server.commands()}
    await client.tree.sync()
    after = {command["name"]: command["id"] for command in server.commands()}

    assert before == after
    assert set(before) == {"goodbot", "Teach the bot…"}
    assert [len(sync.commands) for sync in server.syncs()] == [2, 2]
    assert {command.name for command in await client.tree.fetch_commands()} == set(before)


async def test_a_wrong_use_of_a_command_fails_as_in_the_client(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("other", {}, "synced no command"),
        ("goodbot", {}, "choose one of"),
        ("goodbot forget", {}, "no subcommand"),
        ("goodbot memory", {"pages": 1}, "no option"),
        ("goodbot memory", {"page": "one"}, "takes"),
    ]
    for command, options, why in wrong:
        with pytest.raises(AssertionError, match=why):
            server.slash(ana, general, command, options)


async def test_a_person_s_own_installation_works_where_the_bot_is_not(
    server: DiscordServer, client: Client, ana: Person
) -> None:
    elsewhere = server.guild("Elsewhere", has_bot=False)
    channel = server.channel(elsewhere, "talk")
    server.person("ana", elsewhere)
    server.says(ana, channel, server.bot.mention)
    in_guild = server.slash(ana, channel, "goodbot privacy")
    between = server.slash(ana, server.dm(ana, server.person("ben")), "goodbot privacy")
    with_bot = server.slash(ana, server.dm(ana), "goodbot privacy")
    uses = await client.hears("interaction", 3)
    await server.until(lambda: all(use.followups and not use.original for use in (in_guild, between, with_bot)))

    assert [use.text for use in (in_guild, between, with_bot)] == ["final"] * 3
    assert [use.is_user_integration() for use in uses] == [True, True, False]
    assert (uses[0].context.guild, uses[1].context.private_channel, uses[2].context.dm_channel) == (True, True, True)
    assert {message.channel.id for message in client.all_of("message")} == {int(server.dm(ana).id)}
    assert client.get_guild(int(elsewhere.id)) is None


# what Discord refuses


async def test_an_interaction_is_answered_once_and_in_time(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    sent = await answer_with_buttons(client, general)
    click = server.clicks(ana, str(sent.id), "up")
    await server.until(lambda: click.private_replies)
    [use] = await client.hears("interaction")
    use.response._response_type = None  # discord.py itself would not let the second answer out.
    with pytest.raises(discord.HTTPException) as twice:
        await use.response.send_message("again")
    server.expires(click)
    with pytest.raises(discord.HTTPException) as late:
        await use.response.send_message("late")
    with pytest.raises(discord.HTTPException) as later:
        await use.followup.send("later")

    assert (twice.value.code, late.value.code, later.value.code) == (40060, 10062, 50027)


async def test_components_and_forms_beyond_their_limits_are_refused(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    path = discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=int(general.id))
    button = {"type": 2, "style": 1, "label": "a", "custom_id": "a"}
    wrong: list[list[dict[str, Any]]] = [
        [{"type": 1, "components": [button]}] * 2,
        [{"type": 1, "components": [{**button, "custom_id": "a" * 101}]}],
        [{"type": 1, "components": [{**button, "label": "a" * 81}]}],
        [{"type": 1, "components": [{**button, "custom_id": str(n)} for n in range(6)]}],
        [{"type": 1, "components": [{**button, "custom_id": str(n)}]} for n in range(6)],
        [button],
        [{"type": 10, "content": "not without the flag"}],
        [{"type": 1, "components": [{"type": 2, "style": 5, "label": "no url"}]}],
    ]
    for components in wrong:
        with pytest.raises(discord.HTTPException) as refused:
            await client.http.request(path, json={"content": "a", "components": components})
        assert refused.value.code == 50035
    v2 = {"flags": int(MessageFlag.COMPONENTS_V2), "components": [{"type": 10, "content": "a" * 4000}]}
    assert (await client.http.request(path, json=v2))["components"][0]["id"] == 1

    raw = {"content": "a", "components": [{"type": 1, "components": [button]}]}
    sent = await client.http.request(path, json=raw)
    field = {"type": 18, "label": "a", "component": {"type": 4, "custom_id": "a", "style": 1}}
    forms: list[dict[str, Any]] = [
        {"custom_id": "m", "title": "a" * 46, "components": [field]},
        {"custom_id": "m", "title": "a", "components": []},
        {"custom_id": "m", "title": "a", "components": [{**field, "label": "a" * 46}]},
        {"custom_id": "m", "title": "a", "components": [{"type": 18, "label": "a", "component": button}]},
    ]
    for form in forms:
        use = server.clicks(ana, sent["id"], "a")
        answer = discord.http.Route("POST", f"/interactions/{use.id}/{use.token}/callback")
        with pytest.raises(discord.HTTPException) as not_a_form:
            await client.http.request(answer, json={"type": 9, "data": form})
        assert not_a_form.value.code == 50035


async def test_commands_beyond_their_limits_are_refused(server: DiscordServer, client: Client) -> None:
    path = discord.http.Route("PUT", f"/applications/{server.bot.id}/commands")
    good = {"name": "a", "description": "a", "type": 1}
    for command in ({**good, "name": "A"}, {**good, "description": ""}, {**good, "name": "a" * 33}):
        with pytest.raises(discord.HTTPException) as refused:
            await client.http.request(path, json=[command])
        assert refused.value.code == 50035
    with pytest.raises(discord.HTTPException):
        await client.http.request(path, json=[good, good])
    assert len(server.syncs()) == 1
