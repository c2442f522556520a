# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one container image of the floor: a small Debian from the host's own archive, without any container registry.

The image's tag is a hash of what it is made from, so an image that exists is never stale.
"""

from __future__ import annotations

import hashlib
import io
import platform
import shlex
import tarfile
from pathlib import Path

from podsim.floor.commands import run
from podsim.floor.errors import FloorError
from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory

NAME = "localhost/podsim-floor"
ROOT_FILES = Path(__file__).parent / "rootfs"
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "udev", "openssh-server"),
    *("python3", "python3-cryptography", "python3-grpcio", "python3-protobuf", "python3-yaml"),
    *("iproute2", "iputils-ping", "ethtool", "busybox", "tcpdump", "iperf3"),
)
# What has no work in a container, or would leave `systemctl is-system-running` at "degraded".
MASKED_UNITS = (
    *("console-getty.service", "getty.target", "systemd-logind.service", "systemd-firstboot.service"),
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
)
LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*")
# Host keys come with each machine; the archive of the host that built the image is nobody's business.
REMOVED = "etc/ssh/ssh_host_* etc/apt/sources.list etc/apt/apt.conf.d/99mmdebstrap"
METADATA = ('CMD ["/sbin/init"]', "STOPSIGNAL SIGRTMIN+3", "ENV container=podman")
APT_FIELDS = "$(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)"


def host_release() -> str:
    """The code name of the host's release, such as `bookworm`."""
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "")


def archive_sources(index_targets: str, codename: str) -> list[str]:
    """The sources.list lines of a release's own archive, from apt's list of what it downloads (see APT_FIELDS).

    Only `main` of the release itself, its updates and its security archive; no backports, no other suppliers.
    """
    suites = {codename, f"{codename}-updates", f"{codename}-security"}
    lines = (line.split(maxsplit=1) for line in index_targets.splitlines())
    sources = [line for suite, line in lines if suite in suites and line.split()[-1] == "main"]
    return list(dict.fromkeys(sources))


def host_sources() -> list[str]:
    """The host's own sources, both one-line and deb822, as apt itself understands them."""
    codename = host_release()
    targets = run("apt-get", "indextargets", "--format", APT_FIELDS, "Identifier: Packages", "Origin: Debian")
    sources = archive_sources(targets, codename)
    if not any(line.split()[2] == codename for line in sources):
        raise FloorError(f"apt has no package list of Debian {codename or '(which?)'}; run `apt-get update`.")
    return sources


def tag() -> str:
    """The name and tag of the image that this version of the simulator runs on."""
    recipe = repr((PACKAGES, MASKED_UNITS, LEFT_OUT, METADATA, REMOVED, host_release()))
    digest = hashlib.sha256(recipe.encode() + _root_files())
    return f"{NAME}:{digest.hexdigest()[:12]}"


def build_image(podman: Podman, state: StateDirectory) -> None:
    """Build the image and give it to podman; takes about a minute."""
    sources = host_sources()
    files, archive, apt = (state.image / name for name in ("rootfs.tar", "image.tar", "apt.conf"))
    files.write_bytes(_root_files())
    # Proxies, retries and checks, as the host's apt has them.
    apt.write_text(run("apt-config", "dump", "Acquire"), encoding="utf-8")
    try:
        run(
            "mmdebstrap",
            "--mode=root",
            "--variant=minbase",
            f"--include={','.join(PACKAGES)}",
            f"--aptopt={apt}",
            '--aptopt=Apt::Install-Recommends "false"',
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
            f"--customize-hook=tar-in {shlex.quote(str(files))} /",
            f'--customize-hook=chroot "$1" systemctl --quiet mask {" ".join(MASKED_UNITS)}',
            '--customize-hook=chroot "$1" systemctl --quiet enable power-on.service',
            f'--customize-hook=cd "$1" && rm -f {REMOVED}',
            host_release(),
            str(archive),
            *sources,
        )
        if earlier := podman.images(NAME):
            podman.run("image", "rm", *earlier)
        podman.run("import", "--quiet", *(f"--change={line}" for line in METADATA), str(archive), tag())
    finally:
        archive.unlink(missing_ok=True)


def _root_files() -> bytes:
    """rootfs/ as a tar archive that is owned by root and the same on every machine."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted(path for path in ROOT_FILES.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(str(path.relative_to(ROOT_FILES)))
            member.mode = 0o755 if path.read_bytes().startswith(b"#!") else 0o644
            member.size = path.stat().st_size
            with path.open("rb") as content:
                tar.addfile(member, content)
    return buffer.getvalue()
