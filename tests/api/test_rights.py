"""Who may change what, as a list to be read: a right that was given away by a slip shows here.

The walk holds each route to what it declares; this holds the declarations to what they should be.
"""

from cadenza.api.resources import declared_routes
from cadenza.api.routes import Access, Route
from cadenza.people.model import Role

DECLARED = [each for prefix, _, each in declared_routes() if prefix]
HOME = "/workspaces/{workspace_id}"
# All that people may write who were given nothing to write: themselves, and questions that need a body.
OPEN_WRITES = {
    Access.ANYONE: {
        "POST /auth/first-start",
        "POST /auth/invitations/accept",
        "POST /auth/invitations/look",
        "POST /auth/password-reset",
        "POST /auth/password-reset/ask",
        "POST /auth/sign-in",
    },
    Access.PERSON: {
        "DELETE /me/sessions",
        "DELETE /me/sessions/{session_id}",
        "PATCH /me",
        "POST /auth/sign-out",
        "POST /me/password",
        "POST /me/second-factor",
        "POST /me/second-factor/confirm",
        "POST /me/second-factor/off",
        "POST /workspaces",
    },
    Access.KEY: set[str](),
    Role.VIEWER: {
        f"POST {HOME}/contacts/count",
        f"POST {HOME}/contacts/search",
        f"POST {HOME}/templates/preview",
        f"POST {HOME}/templates/{{template_id}}/check",
        f"POST {HOME}/templates/{{template_id}}/preview",
        f"POST {HOME}/leave",
        f"POST {HOME}/mcp",  # each tool asks its own route, with that route's role and scope
        f"POST {HOME}/posts/check",
        f"POST {HOME}/posts/preview",
        f"POST {HOME}/posts/{{post_id}}/check",
        f"PUT {HOME}/notices/choices",
    },
}
# What opens doors: people, keys, programs that are told, accounts, and taking everything along.
DOORS = ("/members", "/invitations", "/keys", "/webhooks", "/connect", "/disconnect", "/export")
QUESTIONS = {
    f"POST {HOME}/contacts/count",
    f"POST {HOME}/contacts/search",
    f"POST {HOME}/templates/preview",
    f"POST {HOME}/templates/{{template_id}}/check",
    f"POST {HOME}/templates/{{template_id}}/preview",
    f"POST {HOME}/posts/check",
    f"POST {HOME}/posts/preview",
    f"POST {HOME}/posts/{{post_id}}/check",
}


# All that a key may change of the installation, with `system:write`; beside them it may let its work be done.
HOUSEKEEPING = {
    "POST /jobs/queues/{queue}/pause",
    "POST /jobs/queues/{queue}/resume",
    "POST /jobs/redrive",
    "POST /jobs/{job_id}/cancel",
    "POST /jobs/{job_id}/retry",
    "POST /schedules/{name}/pause",
    "POST /schedules/{name}/resume",
}
PASSES = {"POST /publishing/run": "publishing:run", "POST /drafts/generate": "drafts:generate"}


def name(each: Route) -> str:
    return f"{each.method} {each.path}"


def test_only_these_may_be_written_without_an_editors_right() -> None:
    found = {
        needs: {name(each) for each in DECLARED if each.writes and each.needs is needs}
        for needs in OPEN_WRITES
    }
    assert found == OPEN_WRITES


def test_what_opens_doors_needs_an_admin() -> None:
    for each in DECLARED:
        guarded = each.path.startswith(HOME) and any(part in each.path for part in DOORS)
        guarded = guarded and "/audiences/" not in each.path  # its members are recipients
        if guarded and (each.writes or "/export" in each.path):
            assert isinstance(each.needs, Role), name(each)
            assert each.needs.covers(Role.ADMIN), name(each)


def test_a_key_that_may_only_look_changes_nothing() -> None:
    looking = {
        name(each)
        for each in DECLARED
        if each.writes and each.scope is not None and each.scope.endswith(":read")
    }
    assert looking == QUESTIONS
    assert [
        name(each)
        for each in DECLARED
        if not each.writes and each.scope and not each.scope.endswith((":read", ":export"))
    ] == []


def test_no_key_signs_in_makes_keys_or_changes_people() -> None:
    for each in DECLARED:
        personal = each.path.startswith(("/auth", "/me")) or any(
            part in each.path for part in ("/keys", "/members", "/invitations", "/connect")
        )
        recipients = "/audiences/" in each.path  # whose members are contacts
        if each.writes and personal and not recipients and "/disconnect" not in each.path:
            assert each.scope is None, name(each)


def test_a_key_changes_nothing_of_the_house_but_its_jobs() -> None:
    of_the_installation = [each for each in DECLARED if each.needs is Access.INSTANCE]
    written = {name(each): each.scope for each in of_the_installation if each.writes and each.scope}
    assert written == dict.fromkeys(HOUSEKEEPING, "system:write") | PASSES
    assert {name(each) for each in DECLARED if each.scope == "system:write"} == HOUSEKEEPING
