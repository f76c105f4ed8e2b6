"""Kubeconfigs as people have them: where the server is, and as whom one talks to it."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import ssl
import stat
import subprocess
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

INSIDE = "10.1.2.3"
"""An address of a network inside of some company."""


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
        told = "cannot be reached: its certificate is not trusted: self.signed certificate"
        with pytest.raises(ApiUnreachableError, match=told):
            ask(read_kubeconfig(written(tmp_path, {"server": url}, {"token": "x"})))
        plain = {**cluster, "server": url.replace("https", "http")}
        with pytest.raises(ApiUnreachableError, match="cannot be reached: "):
            ask(read_kubeconfig(written(tmp_path, plain, {"token": "x"})))


@pytest.mark.parametrize("name", ["localhost", "x.example.com"])
def test_the_certificate_must_have_the_name_that_the_cluster_says(
    tmp_path: Path, name: str
) -> None:
    certificate = own_certificate("127.0.0.1")
    data = base64.b64encode(certificate.authority).decode()
    with fake_server(always, tls=certificate.context) as (url, _):
        cluster: Object = {
            "server": url,
            "certificate-authority-data": data,
            "tls-server-name": name,
        }
        endpoint = read_kubeconfig(written(tmp_path, cluster, {"token": "x"}))
        if name == "localhost":
            assert [answer.code for answer in ask(endpoint)] == [200]
        else:
            with pytest.raises(ApiUnreachableError, match=r"x\.example\.com"):
                ask(endpoint)


@pytest.mark.parametrize("how", ["data", "file", "none"])
def test_a_client_certificate_says_who_one_is(tmp_path: Path, how: str) -> None:
    openssl = shutil.which("openssl")
    assert openssl is not None
    options = ("-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=lab", "-days", "1")
    subprocess.run(  # noqa: S603 - a fixed command
        [openssl, "req", *options, "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    certificate, key = ((tmp_path / name).read_bytes() for name in ("cert.pem", "key.pem"))
    users: dict[str, Object] = {
        "data": {
            "client-certificate-data": base64.b64encode(certificate).decode(),
            "client-key-data": base64.b64encode(key).decode(),
        },
        "file": {"client-certificate": "cert.pem", "client-key": "key.pem"},
        "none": {},
    }
    served = own_certificate("127.0.0.1")
    served.context.verify_mode = ssl.CERT_REQUIRED
    served.context.load_verify_locations(cadata=certificate.decode())
    with fake_server(always, tls=served.context) as (url, _):
        authority = base64.b64encode(served.authority).decode()
        cluster: Object = {"server": url, "certificate-authority-data": authority}
        endpoint = read_kubeconfig(written(tmp_path, cluster, users[how]))
        if how == "none":
            with pytest.raises(ApiUnreachableError, match="cannot be reached"):
                ask(endpoint)
        else:
            assert [answer.code for answer in ask(endpoint)] == [200]


def test_requests_go_through_the_proxy_that_the_cluster_names(tmp_path: Path) -> None:
    with fake_server(always) as (proxy, asked):
        cluster: Object = {"server": "http://far.example.com", "proxy-url": proxy}
        [answer] = ask(read_kubeconfig(written(tmp_path, cluster, {})))

    assert answer.code == 200
    assert asked.requests == ["GET http://far.example.com/version"]


@pytest.mark.parametrize(
    ("server", "exempt", "proxy"),
    [
        ("http://far.example.com", "", "http://proxy.example.com:3128"),
        ("https://far.example.com", "", "http://secure.example.com:3128"),
        ("https://far.example.com", "near.example.com, .example.com", ""),
        (f"https://{INSIDE}:6443", "192.0.2.1,10.0.0.0/8", ""),
        (f"https://{INSIDE}:6443", "10.2.0.0/16", "http://secure.example.com:3128"),
        ("https://127.0.0.1:6443", "", ""),
        ("http://localhost:8080", "", ""),
    ],
)
def test_the_environment_names_a_proxy_as_for_every_client(
    monkeypatch: pytest.MonkeyPatch, server: str, exempt: str, proxy: str
) -> None:
    """There is none to this machine itself (Go's `http.ProxyFromEnvironment`)."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://proxy.example.com:3128")
    monkeypatch.setenv("https_proxy", "http://secure.example.com:3128")
    monkeypatch.setenv("no_proxy", exempt)

    assert endpoint_at(server).proxy == proxy


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
        f"open({str(folder / 'runs')!r}, 'a').write('x')\n"
        f"print({said!r})\nprint('why', file=sys.stderr)\nsys.exit({code})\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"command": "./login", "args": ["--quiet"]}}


def test_an_exec_plugin_gives_the_token(tmp_path: Path) -> None:
    """It is asked once: one may want a person to do something."""
    user = plugin(tmp_path, {"token": "made"})
    with fake_server(always) as (url, asked):
        ask(read_kubeconfig(written(tmp_path, {"server": url}, user)))

    assert asked.tokens == ["Bearer made"]
    assert (tmp_path / "runs").read_text() == "x"


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
        ({"users": [{"name": "u", "user": {"as": "admin"}}]}, "has as, which is not supported"),
        ({"users": [{"name": "u", "user": {"token": "a\nb"}}]}, "a token cannot be used"),
        (
            {
                "clusters": [
                    {
                        "name": "c",
                        "cluster": {
                            "server": "https://x.example.com",
                            "proxy-url": "socks5://127.0.0.1:1080",
                        },
                    }
                ]
            },
            'the proxy "socks5://127.0.0.1:1080" is not supported',
        ),
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
