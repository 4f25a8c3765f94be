"""Who may come in, with which role, from where; and what no form may lack."""

import re
from typing import NoReturn

import pytest
from click.testing import CliRunner

from bot.adapters.web.pages.access import Accounts, accounts_of, is_loopback, require_safe
from bot.adapters.web.pages.site import PAGES
from bot.cli.root import goodbot
from bot.errors import ConfigError
from memory.adapters.sql import SqlStore
from memory.errors import StoreUnavailable
from tests.doubles.memory_world import World
from tests.doubles.pages import WORKSPACE, Visitor, site_parts, token_in

GETS = [route.path for page in PAGES for route in page.routes if route.method == "GET"]
POSTS = [route.path for page in PAGES for route in page.routes if route.method == "POST"]


def filled(path: str) -> str:
    return re.sub(r"{\w+(:\w+)?}", "x", path)


@pytest.mark.parametrize("path", GETS)
def test_every_page_asks_who_it_is(nobody: Visitor, path: str) -> None:
    response = nobody.get(filled(path))
    assert (response.status_code, response.headers["location"]) == (303, "/login")


@pytest.mark.parametrize("path", POSTS)
def test_no_form_is_taken_without_its_token(nobody: Visitor, path: str) -> None:
    address = f"/w/{WORKSPACE}/{filled(path)}"
    assert nobody.http.post(address).headers["location"] == "/login"
    nobody.log_in()
    assert nobody.http.post(address).status_code == 403
    assert nobody.http.post(address, data={"token": "guessed"}).status_code == 403
    from_elsewhere = {"sec-fetch-site": "cross-site"}
    assert nobody.http.post(address, data={"token": nobody.token()}, headers=from_elsewhere).status_code == 403


@pytest.mark.parametrize("path", POSTS)
def test_who_only_looks_decides_nothing(nobody: Visitor, path: str) -> None:
    nobody.log_in("vera")
    assert nobody.send(filled(path)).status_code == 403


@pytest.mark.parametrize("field", ["token", "name", "password"])
def test_half_a_character_in_a_form_is_a_wrong_one(nobody: Visitor, field: str) -> None:
    fields = {"token": token_in(nobody.http.get("/login").text), "name": "admin", "password": "x", field: "+2AA-"}
    parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}' for name, value in fields.items()]
    kind = {"content-type": "multipart/form-data; boundary=b; charset=utf-7"}
    assert nobody.http.post("/login", content="\r\n".join([*parts, "--b--"]), headers=kind).status_code == 403


def test_coming_in_and_going_out(nobody: Visitor) -> None:
    assert nobody.log_in(password="wrong").status_code == 403
    came = nobody.log_in()
    assert came.status_code == 303
    assert nobody.page("overview")
    assert nobody.http.post("/logout").status_code == 403
    assert nobody.http.post("/logout", data={"token": nobody.token()}).headers["location"] == "/login"
    assert nobody.get("overview").headers["location"] == "/login"


def test_the_cookie_is_kept_from_scripts_other_sites_and_plain_http(world: World, nobody: Visitor) -> None:
    assert re.search(r"HttpOnly.*SameSite=lax", nobody.log_in().headers["set-cookie"])
    away = Visitor(world.memory, site_parts(world.memory), base="https://goodbot.example.org")
    assert "Secure" in away.log_in().headers["set-cookie"]


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "many"])
def test_a_form_of_no_known_length_is_not_read(admin: Visitor, length: str) -> None:
    sent = {"token": admin.token()}
    assert admin.http.post("/logout", data=sent, headers={"Content-Length": length}).status_code == 403
    assert admin.http.post("/logout", data=sent).status_code == 303


def test_a_cookie_that_was_changed_or_is_too_old_lets_nobody_in(world: World, admin: Visitor) -> None:
    world.clock.tick(hours=11)
    assert admin.page("overview")
    world.clock.tick(hours=2)
    assert admin.get("overview").status_code == 303
    admin.log_in()
    cookie = admin.http.cookies["goodbot"]
    admin.http.cookies.clear()
    found = {
        sent: admin.http.get(f"/w/{WORKSPACE}/overview", headers={"cookie": f"goodbot={sent}"}).status_code
        for sent in (cookie, f"{cookie[:-5]}xxxxx", f"x{cookie[1:]}", "")
    }
    assert list(found.values()) == [200, 303, 303, 303]


def test_passwords_cannot_be_tried_quickly(world: World) -> None:
    now = [0.0]
    site = site_parts(world.memory, monotonic=lambda: now[0])
    visitor = Visitor(world.memory, site)
    tried = [visitor.log_in(password=f"guess {number}").status_code for number in range(6)]
    assert tried == [403] * 5 + [429]
    assert visitor.log_in().status_code == 429
    now[0] = 13.0
    assert visitor.log_in().status_code == 303


def test_roles_are_of_a_workspace(world: World, nobody: Visitor) -> None:
    nobody.log_in("olga")
    assert nobody.get("overview").status_code == 404
    assert nobody.http.get("/w/terminal:nowhere/overview").status_code == 404
    nobody.log_in("tom")
    assert "teacher" in nobody.page("overview")
    assert nobody.log_in("mallory").status_code == 403


def test_without_a_password_only_this_machine_comes_in(world: World) -> None:
    world.ask("where is the key?")
    site = site_parts(world.memory, password="", accounts=())
    here = Visitor(world.memory, site)
    assert "local" in here.page("overview")
    assert here.http.get("/login").headers["location"] == "/"
    assert here.http.get("/", headers={"host": "evil.example.org"}).status_code == 421
    assert here.get("overview").status_code == 200
    passed_on = here.http.get(f"/w/{WORKSPACE}/overview", headers={"x-forwarded-for": "10.0.0.7"})
    assert passed_on.status_code == 421
    assert here.http.post(f"/w/{WORKSPACE}/episodes").status_code == 403


def test_others_are_let_near_only_with_a_password() -> None:
    nobody, somebody = Accounts(""), Accounts("a long password")
    for host in ("0.0.0.0", "192.168.1.7", "goodbot.example.org", "::"):
        with pytest.raises(ConfigError, match="GOODBOT_WEB_PASSWORD"):
            require_safe(host, nobody)
        require_safe(host, somebody)
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.53"):
        require_safe(host, nobody)
    assert is_loopback("localhost:8080")
    assert is_loopback("[::1]:8080")
    assert not is_loopback("localhost.example.org")
    assert not is_loopback("127.0.0.1.example.org:80")


def test_an_account_may_have_several_lines() -> None:
    (ana,) = accounts_of(["ana viewer *", "ana admin slack:T1 $argon2id$x"])
    assert [role.name for role in (ana.role_in("slack:T1"), ana.role_in("slack:T2")) if role] == ["ADMIN", "VIEWER"]
    assert ana.digest == "$argon2id$x"
    assert ana.workspaces(["slack:T1", "slack:T2"]) == ["slack:T1", "slack:T2"]


def test_every_response_forbids_scripts_that_are_not_its_own(admin: Visitor) -> None:
    for path in ("/", "/login", f"/w/{WORKSPACE}/overview", f"/w/{WORKSPACE}/episodes"):
        policy = admin.http.get(path).headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
    for path in ("overview", "episodes"):
        html = admin.page(path)
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?://", html)


def test_while_the_database_is_away_a_page_says_so(admin: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: SqlStore) -> NoReturn:
        raise StoreUnavailable("The database x on db.internal cannot be reached.")

    monkeypatch.setattr(SqlStore, "workspaces", away)
    for path in ("/", f"/w/{WORKSPACE}/overview"):
        response = admin.http.get(path)
        assert response.status_code == 503
        assert "The memory cannot be used at the moment" in response.text
        assert "db.internal" not in response.text


def test_an_address_without_a_page_is_answered_by_a_page(admin: Visitor) -> None:
    response = admin.http.get(f"/w/{WORKSPACE}/overveiw")
    assert (response.status_code, response.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at this address" in response.text


def test_the_command_makes_a_digest_that_lets_somebody_in() -> None:
    done = CliRunner().invoke(goodbot, ["password"], input="a good password\r\n")
    assert done.stderr == ""
    digest = done.output.strip()
    accounts = Accounts("", accounts_of([f"ana viewer * {digest}"]))
    assert accounts.authenticate("ana", "a good password") == accounts.named("ana")
    assert accounts.authenticate("ana", "another") is None
    assert accounts.authenticate("nobody", "a good password") is None


@pytest.mark.parametrize("given", ["", "too short\n"])
def test_a_password_that_is_easy_to_guess_has_no_digest(given: str) -> None:
    done = CliRunner().invoke(goodbot, ["password"], input=given)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "at least 10 characters" in done.stderr


def test_a_password_that_is_no_text_has_no_digest() -> None:
    done = CliRunner().invoke(goodbot, ["password", "--password", "\udcff" * 12])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no UTF-8 text" in done.stderr
