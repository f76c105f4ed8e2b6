"""Kubeconfigs as people have them: where the server is, and as whom one talks to it."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
import sys
from pathlib import Path

import pytest
import yaml

from simulator.api.client.endpoint import ApiEndpoint, endpoint_at
from simulator.api.client.http import Answer, HttpClient
from simulator.api.client.kubeconfig import read_kubeconfig
from simulator.api.dialect.documents import Object
from simulator.api.serving.certificates import own_certificate
from simulator.errors import ApiUnreachableError, ConfigError
from tests.api.client.fake import fake_server, refusal


def written(folder: Path, cluster: Object, user: Object, **more: object) -> Path:
    """Write a kubeconfig with one context `lab`."""
    path = folder / "config"
    context: Object = {"cluster": "c", "user": "u"}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "lab", "context": context}],
        "current-context": "lab",
        **more,
    }
    path.write_text(yaml.safe_dump(content))
    return path


def ask(endpoint: ApiEndpoint, times: int = 1) -> list[Answer]:
    """Ask a server for `/version` so many times."""

    async def run() -> list[Answer]:
        client = HttpClient(endpoint)
        try:
            return [await client.ask("GET", "/version") for _ in range(times)]
        finally:
            await client.close()

    return asyncio.run(run())


def always(method: str, path: str, body: Object) -> tuple[int, Object]:
    del method, path, body
    return 200, {"major": "1"}


def test_the_current_context_names_server_and_token(tmp_path: Path) -> None:
    with fake_server(always) as (url, asked):
        endpoint = read_kubeconfig(written(tmp_path, {"server": f"{url}/"}, {"token": "secret"}))
        [answer] = ask(endpoint)

    assert endpoint.url == url
    assert answer.document == {"major": "1"}
    assert asked.tokens == ["Bearer secret"]


def test_another_context_can_be_chosen(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"server": "https://one.example.com"},
        {},
        contexts=[
            {"name": "lab", "context": {"cluster": "c", "user": "u"}},
            {"name": "other", "context": {"cluster": "d"}},
        ],
        clusters=[
            {"name": "c", "cluster": {"server": "https://one.example.com"}},
            {"name": "d", "cluster": {"server": "https://two.example.com:6443"}},
        ],
    )

    assert read_kubeconfig(path).url == "https://one.example.com"
    assert read_kubeconfig(path, "other").url == "https://two.example.com:6443"


@pytest.mark.parametrize("how", ["data", "file", "insecure"])
def test_the_servers_certificate_is_verified_as_the_cluster_says(tmp_path: Path, how: str) -> None:
    certificate = own_certificate("127.0.0.1")
    pem = certificate.authority
    (tmp_path / "ca.pem").write_bytes(pem)
    clusters: dict[str, Object] = {
        "data": {"certificate-authority-data": base64.b64encode(pem).decode()},
        "file": {"certificate-authority": "ca.pem"},
        "insecure": {"insecure-skip-tls-verify": True},
    }
    with fake_server(always, tls=certificate.context) as (url, _):
        cluster = {"server": url, **clusters[how]}
        [answer] = ask(read_kubeconfig(written(tmp_path, cluster, {"token": "x"})))
        assert answer.code == 200
        with pytest.raises(ApiUnreachableError, match="cannot be reached"):
            ask(read_kubeconfig(written(tmp_path, {"server": url}, {"token": "x"})))


def test_a_token_file_is_read_again_after_the_server_has_said_401(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old\n")

    with fake_server(always) as (url, _):
        endpoint = read_kubeconfig(written(tmp_path, {"server": url}, {"tokenFile": "token"}))
        assert endpoint.token() == "old"

    def only_new(method: str, path: str, body: Object) -> tuple[int, Object]:
        if asked.tokens[-1] == "Bearer new":
            return always(method, path, body)
        (tmp_path / "token").write_text("new")
        return refusal(401, "Unauthorized", "Unauthorized")

    with fake_server(only_new) as (url, asked):
        endpoint = read_kubeconfig(written(tmp_path, {"server": url}, {"tokenFile": "token"}))
        answers = ask(endpoint, times=2)

    assert [answer.code for answer in answers] == [200, 200]
    assert asked.tokens == ["Bearer old", "Bearer new", "Bearer new"]


def plugin(folder: Path, status: object, code: int = 0) -> Object:
    """Write an exec plugin that says this, and return the user that names it."""
    path = folder / "login"
    document = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
    said = json.dumps({**document, "status": status})
    path.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "assert 'ExecCredential' in os.environ['KUBERNETES_EXEC_INFO']\n"
        f"print({said!r})\nprint('why', file=sys.stderr)\nsys.exit({code})\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"command": "./login", "args": ["--quiet"]}}


def test_an_exec_plugin_gives_the_token(tmp_path: Path) -> None:
    user = plugin(tmp_path, {"token": "made"})
    with fake_server(always) as (url, asked):
        ask(read_kubeconfig(written(tmp_path, {"server": url}, user)))

    assert asked.tokens == ["Bearer made"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"current-context": ""}, "no context is chosen; say one with --context: lab"),
        ({"current-context": "x"}, 'contexts has no "x"; there are: lab'),
        ({"users": []}, 'users has no "u"; there are: none'),
        ({"clusters": []}, 'clusters has no "c"; there are: none'),
        ({"clusters": "none"}, "it is no kubeconfig: it has no clusters"),
        ({"clusters": [{"name": "c", "cluster": {"server": "ftp://x"}}]}, '"ftp://x" is no API'),
        ({"users": [{"name": "u", "user": {"username": "a"}}]}, "has username, which is not"),
        (
            {
                "clusters": [
                    {
                        "name": "c",
                        "cluster": {
                            "server": "https://x.example.com",
                            "certificate-authority-data": "YQ==",
                        },
                    }
                ]
            },
            "a certificate or key cannot be used",
        ),
        (
            {
                "clusters": [{"name": "c", "cluster": {"server": "http://far.example.com"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            },
            "a token would cross the network in the clear",
        ),
    ],
)
def test_what_cannot_be_used_is_named(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    path = written(tmp_path, {"server": "http://127.0.0.1:1"}, {}, **changes)

    with pytest.raises(ConfigError) as caught:
        read_kubeconfig(path)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [({}, 0, "gives neither a token"), ({"token": "x"}, 3, "has ended with 3: why")],
)
def test_an_exec_plugin_that_gives_nothing_is_named(
    tmp_path: Path, status: object, code: int, message: str
) -> None:
    path = written(tmp_path, {"server": "https://x.example.com"}, plugin(tmp_path, status, code))

    with pytest.raises(ConfigError, match=message):
        read_kubeconfig(path)


@pytest.mark.parametrize("content", ["{", "a: [", "\x00", "[1]"])
def test_what_is_no_kubeconfig_is_said_so(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)

    with pytest.raises(ConfigError, match="it is no kubeconfig"):
        read_kubeconfig(path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "http://",
        "http://127.0.0.1:99999",
        "http://127.0.0.1@127.0.0.1",
        "http://127.0.0.1/?a",
    ],
)
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is no API server"):
        endpoint_at(url)


def test_an_authority_must_be_certificates(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("none")
    with pytest.raises(ConfigError, match="no certificates of an authority"):
        endpoint_at("https://x.example.com", authority=str(tmp_path / "ca"))


def test_a_client_certificate_that_is_none_is_named(tmp_path: Path) -> None:
    user: Object = {"client-certificate-data": "bm9uZQ==", "client-key-data": "bm9uZQ=="}
    path = written(tmp_path, {"server": "https://127.0.0.1:1"}, user)

    with pytest.raises(ConfigError, match="a certificate or key cannot be used"):
        read_kubeconfig(path)
