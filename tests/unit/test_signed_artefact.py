# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release is signed as ansible-galaxy verifies it, here by a key that the test makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from artefact import build
from sign_artefact import sign

from tests.support.checkout import PROGRAMS, ROOT
from tests.support.processes import wait_until

pytestmark = pytest.mark.skipif(not shutil.which("gpg"), reason="gpg is not installed on this machine")

OURS, ANOTHER = "release@ipu-pod.example", "mallory@elsewhere.example"


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The public key that users trust; gpg also has the secret key of somebody else."""
    # The path of the agent's socket must be short.
    directory = Path(tempfile.mkdtemp(prefix="gpg-"))
    monkeypatch.setenv("GNUPGHOME", str(directory))
    try:
        for name in (OURS, ANOTHER):
            gpg("--batch", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never")
        public = tmp_path / "trusted.gpg"
        public.write_bytes(gpg("--export", OURS))
        yield public
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], check=True, capture_output=True)
        # An agent that ends removes its sockets.
        wait_until(lambda: not list(directory.glob("S.*")))
        shutil.rmtree(directory)


def gpg(*arguments: str) -> bytes:
    return subprocess.run(["gpg", "--quiet", *arguments], check=True, stdout=subprocess.PIPE).stdout


def test_an_installed_artefact_is_verified_by_our_signature_alone(
    trusted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    artefact = build(ROOT, tmp_path / "built")
    (tmp_path / "ansible.cfg").touch()
    users = tmp_path / "users"
    users.mkdir(mode=0o700)

    def galaxy(verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        words = ["ansible-galaxy", "collection", verb, "--offline", "-p", str(tmp_path), *arguments]
        # A user has a gpg of their own.
        own = {"ANSIBLE_CONFIG": str(tmp_path / "ansible.cfg"), "GNUPGHOME": str(users)}
        environment = {**os.environ, **own}
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    def verify(signature: Path) -> subprocess.CompletedProcess[str]:
        return galaxy("verify", "--keyring", str(trusted), "--signature", signature.as_uri(), "ipu.pod")

    assert galaxy("install", "--no-deps", str(artefact)).returncode == 0
    forged = verify(sign(artefact, ANOTHER))
    assert forged.returncode != 0, forged.stdout + forged.stderr
    ours = sign(artefact, OURS)
    verified = verify(ours)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    with (tmp_path / "ansible_collections" / "ipu" / "pod" / "playbooks" / "site.yml").open("a") as changed:
        changed.write("# by somebody else\n")
    assert "playbooks/site.yml" in verify(ours).stdout

    # Before it is installed, with gpg's own program alone.
    manifest = subprocess.run(["tar", "-xOf", artefact, "MANIFEST.json"], check=True, capture_output=True).stdout
    check = ["gpgv", "--keyring", str(trusted), str(ours), "-"]
    assert subprocess.run(check, input=manifest, check=False, capture_output=True).returncode == 0
    assert subprocess.run(check, input=manifest + b" ", check=False, capture_output=True).returncode != 0


@pytest.mark.usefixtures("trusted")
def test_without_the_key_there_is_no_signature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    artefact = build(ROOT, tmp_path / "built")
    with pytest.raises(subprocess.CalledProcessError):
        sign(artefact, "nobody@nowhere.example")
    assert not artefact.with_name("ipu-pod-2.0.0.asc").exists()
