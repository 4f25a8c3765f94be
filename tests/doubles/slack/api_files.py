"""`files.*`: uploading in three steps. The second is a plain POST to the address from the first."""

from tests.doubles.slack.api_chat import new_message, publish
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.render import file_json
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import HostedFile, Json


@method("files.getUploadURLExternal", "files:write")
def get_upload_url(call: Request) -> Json:
    """Step one: announce a file by name and length in bytes."""
    length = call.number("length", 0)
    if length <= 0:
        raise SlackError("invalid_arguments", "must be greater than 0 [json-pointer:/length]")
    file = HostedFile(
        id=call.slack.stamps.id("F"),
        name=call.need("filename"),
        content=b"",
        mimetype="application/octet-stream",
        user=call.workspace.bot.id,
        created=int(call.slack.stamps.now()),
        completed=False,
        announced_length=length,
    )
    call.workspace.files[file.id] = file
    return {"upload_url": f"{call.slack.base_url}/upload/{call.workspace.id}/{file.id}", "file_id": file.id}


@method("files.info", "files:read")
def file_info(call: Request) -> Json:
    """A file as it is in a message of a channel that is not shared."""
    file = call.workspace.files.get(call.need("file"))
    if file is None:
        raise SlackError("file_not_found")
    return {"file": file_json(file, call.workspace.id, call.slack.base_url)}


@method("files.completeUploadExternal", "files:write")
def complete_upload(call: Request) -> Json:
    """Step three: make the uploaded files visible, in a channel or a thread as one message."""
    files = [_uploaded(call, item) for item in call.parsed("files", [])]
    if not files:
        raise SlackError("invalid_arguments", "missing required field: files")
    for name in call.text("channel_id").split(",") if call.text("channel_id") else call.text("channels").split(","):
        if name:
            _share(call, name, files)
    base, team = call.slack.base_url, call.workspace.id
    return {"files": [file_json(file, team, base) for file in files]}


@method("files.info", "files:read")
def info(call: Request) -> Json:
    """One file."""
    file = call.workspace.files.get(call.need("file"))
    if file is None or not file.completed:
        raise SlackError("file_not_found")
    return {"file": file_json(file, call.workspace.id, call.slack.base_url)}


def _uploaded(call: Request, item: Json) -> HostedFile:
    file = call.workspace.files.get(item.get("id", ""))
    if file is None or not file.content:
        raise SlackError("file_not_found")
    file.title, file.completed = item.get("title", ""), True
    return file


def _share(call: Request, name: str, files: list[HostedFile]) -> None:
    there = Request(call.slack, call.workspace, call.args | {"channel": name})
    channel = there.channel(to_write=True)
    message = new_message(there, channel, call.text("initial_comment"), [])
    message.files, message.subtype = files, "file_share"
    for file in files:
        file.channel, file.thread_ts = channel.id, message.thread_ts
        file.message_ts, file.initial_comment = message.ts, message.text
    publish(call.slack, call.workspace, channel, message)
