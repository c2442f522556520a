# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container images of the floor: a small Debian from the host's own archive, without any container registry.

All machines of a floor have the same one: the plain one, or one with more software. An image's tag is a hash of what it
is made from, so an image that exists is never stale.
"""

from __future__ import annotations

import hashlib
import io
import platform
import shlex
import sys
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from podsim.floor.commands import run
from podsim.floor.errors import FloorError
from podsim.floor.facts import Software
from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory

NAME = "localhost/podsim-floor"
ROOT_FILES = Path(__file__).parent / "rootfs"
# Compiles a module of Ansible once, not each time that it comes to a machine.
KEEP_BYTECODE = "usr/lib/python3/dist-packages/keep_bytecode.*"
CONTAINER_FILES = {ROOT_FILES: ("**/*",)}
# What a management server offers to the pod; off until somebody switches it on.
SERVICES = ("dnsmasq-base", "chrony", "rsyslog")
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "udev", "openssh-server"),
    *("python3", "python3-cryptography", "python3-grpcio", "python3-protobuf", "python3-pycurl", "python3-yaml"),
    *("iproute2", "iputils-ping", "ethtool", "busybox", "tcpdump", "iperf3"),
    *SERVICES,
)
SOFTWARE_PACKAGES = {
    # With what builds a plugin of it.
    Software.SLURM: ("slurmctld", "slurmd", "slurm-client", "munge", "libslurm-dev", "gcc", "libc6-dev"),
    Software.OPENSTACK: (
        *("keystone", "placement-api", "glance-api", "cinder-api", "cinder-scheduler", "cinder-volume"),
        *("nova-api", "nova-conductor", "nova-scheduler", "nova-compute", "neutron-server"),
        *("neutron-openvswitch-agent", "python3-openstacksdk", "uwsgi-plugin-python3", "mariadb-server"),
        *("rabbitmq-server", "openvswitch-switch", "libvirt-daemon", "libvirt-daemon-driver-qemu"),
        *("libvirt-daemon-system", "libvirt-clients", "python3-libvirt", "qemu-system-x86", "qemu-utils"),
        *("genisoimage", "curl", "procps", "sudo"),
    ),
    # With what containers on several servers do together.
    Software.CONTAINERS: ("podman", "netavark", "crun", "docker.io", "sudo", "openmpi-bin"),
    Software.BACKEND_AI: ("docker-cli", "postgresql", "redis-server", "etcd-server", "python3-venv"),
}
# Where not the host's own release: Backend.AI wants Python 3.13.
SOFTWARE_RELEASES = {Software.BACKEND_AI: "trixie"}
SOFTWARE_FILES = {
    Software.OPENSTACK: Path(__file__).parent / "openstack" / "rootfs",
    Software.CONTAINERS: Path(__file__).parent / "containers" / "rootfs",
    Software.BACKEND_AI: Path(__file__).parent / "backend_ai" / "rootfs",
}
# What Debian switches on with OpenStack; a cloud's machines start their own targets.
OPENSTACK_UNITS = (
    *("cron", "libvirt-guests", "libvirtd", "mariadb", "openvswitch-switch", "rabbitmq-server", "epmd"),
    *("keystone", "placement-api", "glance-api", "cinder-api", "cinder-scheduler", "cinder-volume", "neutron-api"),
    *("neutron-rpc-server", "neutron-openvswitch-agent", "nova-api", "nova-api-metadata", "nova-conductor"),
    *("nova-scheduler", "nova-compute", "rtslib-fb-targetctl", "open-iscsi", "lvm2-monitor", "blk-availability"),
    *("epmd.socket", "dm-event.socket", "iscsid.socket", "uuidd.socket", "lvm2-lvmpolld.socket", "logrotate.timer"),
    *("libvirtd.socket", "libvirtd-ro.socket", "libvirtd-admin.socket", "virtlogd.socket", "virtlogd-admin.socket"),
    *("virtlockd.socket", "virtlockd-admin.socket"),
)
# For the machine's Python, which is another one than that which runs pip.
LOCKED_PACKAGES = (
    "--no-deps --no-build-isolation --require-hashes --python-version 3.13 --platform linux_x86_64 "
    + " ".join(f"--platform manylinux{version}_x86_64" for version in ("_2_34", "_2_28", "_2_17", "2014", "2010", "1"))
)
SITE_PACKAGES = '"$1"/opt/backend.ai/venv/lib/python3.13/site-packages'
# It is off, and without a key that all would share, until somebody makes it a cluster.
SOFTWARE_HOOKS = {
    Software.SLURM: (
        'chroot "$1" systemctl --quiet disable munge.service slurmctld.service slurmd.service',
        'rm "$1"/etc/munge/munge.key',
    ),
    Software.OPENSTACK: (
        f'chroot "$1" systemctl --quiet disable {" ".join(OPENSTACK_UNITS)}',
        'chroot "$1" make-databases',
        # The addresses and passwords of one pod.
        'cd "$1"/etc && for each in nova neutron cinder placement; do '
        "mkdir $each/$each.conf.d && ln -s /etc/podsim/cloud.conf $each/$each.conf.d/podsim.conf; done",
        'mkdir "$1"/etc/glance/glance-api.conf.d && '
        'ln -s /etc/podsim/cloud.conf "$1"/etc/glance/glance-api.conf.d/podsim.conf',
        'mkdir "$1"/srv/volumes',
    ),
    Software.CONTAINERS: (
        'chroot "$1" systemctl --quiet disable podman.service podman.socket podman-auto-update.service '
        "podman-auto-update.timer podman-restart.service",
    ),
    Software.BACKEND_AI: (
        'chroot "$1" systemctl --quiet disable postgresql.service redis-server.service etcd.service',
        'chroot "$1" python3 -m venv /opt/backend.ai/venv',
        f'"$PODSIM_PYTHON" -m pip install --quiet --no-compile {LOCKED_PACKAGES} --target {SITE_PACKAGES} '
        '--requirement "$1"/opt/backend.ai/packages.txt',
        'chroot "$1" make-backend-ai',
    ),
}
# What has no work in a container, or would leave `systemctl is-system-running` at "degraded".
MASKED_UNITS = (
    *("console-getty.service", "getty.target", "systemd-logind.service", "systemd-firstboot.service"),
    # A machine's management network is there before it starts.
    "systemd-networkd-wait-online.service",
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
)
# Nothing here is what these look for, and each of them is a process at every daemon-reload.
MASKED_GENERATORS = (
    *("cryptsetup", "debug", "gpt-auto", "hibernate-resume", "integritysetup", "rc-local"),
    *("run", "system-update", "sysv", "veritysetup"),
)
# A container has no disks and consoles either.
MASKED_IN_CONTAINERS = tuple(sorted((*MASKED_GENERATORS, "fstab", "getty")))
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


def release_sources(release: str) -> list[str]:
    """The sources of a Debian release on the host's own archive: the host's sources, with that release's suites."""
    host = host_release()
    return [line.replace(f" {host}", f" {release}") for line in _host_sources(host)]


def _host_sources(codename: str) -> list[str]:
    """The host's own sources, both one-line and deb822, as apt itself understands them."""
    targets = run("apt-get", "indextargets", "--format", APT_FIELDS, "Identifier: Packages", "Origin: Debian")
    sources = archive_sources(targets, codename)
    if not any(line.split()[2] == codename for line in sources):
        raise FloorError(f"apt has no package list of Debian {codename or '(which?)'}; run `apt-get update`.")
    return sources


def host_apt_settings() -> str:
    """Proxies, retries and checks, as the host's apt has them, in the format of apt.conf."""
    return run("apt-config", "dump", "Acquire")


def tag(software: Iterable[Software] = ()) -> str:
    """The name and tag of the image that this version of the simulator runs on."""
    recipe = (_packages(software), MASKED_UNITS, MASKED_IN_CONTAINERS, METADATA, *_hooks(software))
    if release := _release(software):
        recipe = (release, *recipe)
    return f"{_name(software)}:{fingerprint(recipe, root_files(_files(software)))}"


def fingerprint(recipe: tuple[object, ...], files: bytes) -> str:
    """A name for what is made by this recipe, with these files, from the host's release."""
    content = repr((*recipe, LEFT_OUT, REMOVED, host_release())).encode()
    return hashlib.sha256(content + files).hexdigest()[:12]


def build_image(podman: Podman, state: StateDirectory, software: Iterable[Software] = ()) -> None:
    """Build the image and give it to podman; takes about a minute."""
    archive = state.image / "image.tar"
    hooks = (
        f'chroot "$1" systemctl --quiet mask {" ".join(MASKED_UNITS)}',
        mask_generators(MASKED_IN_CONTAINERS),
        'chroot "$1" systemctl --quiet disable chrony.service rsyslog.service',
        'chroot "$1" systemctl --quiet enable power-on.service start-for-devices.service',
        *_hooks(software),
    )
    try:
        install_debian(archive, _packages(software), root_files(_files(software)), hooks, state, _release(software))
        if earlier := podman.images(_name(software), "containers=false"):
            podman.run("image", "rm", *earlier)
        podman.run("import", "--quiet", *(f"--change={line}" for line in METADATA), str(archive), tag(software))
    finally:
        archive.unlink(missing_ok=True)


def mask_generators(names: Iterable[str]) -> str:
    """A shell command that masks generators of systemd in the system at $1."""
    each = "".join(f" && ln -s /dev/null systemd-{name}-generator" for name in names)
    return f'mkdir --parents "$1"/etc/systemd/system-generators && cd "$1"/etc/systemd/system-generators{each}'


def _name(software: Iterable[Software]) -> str:
    return "-".join((NAME, *(each.value for each in software)))


def _packages(software: Iterable[Software]) -> tuple[str, ...]:
    return (*PACKAGES, *(package for each in software for package in SOFTWARE_PACKAGES[each]))


def _files(software: Iterable[Software]) -> dict[Path, tuple[str, ...]]:
    more = {SOFTWARE_FILES[each]: ("**/*",) for each in software if each in SOFTWARE_FILES}
    return {**CONTAINER_FILES, **more}


def _hooks(software: Iterable[Software]) -> tuple[str, ...]:
    return tuple(hook for each in software for hook in SOFTWARE_HOOKS[each])


def _release(software: Iterable[Software]) -> str | None:
    return next((SOFTWARE_RELEASES[each] for each in software if each in SOFTWARE_RELEASES), None)


def install_debian(
    target: Path,
    packages: Iterable[str],
    files: bytes,
    hooks: Iterable[str],
    state: StateDirectory,
    release: str | None = None,
) -> None:
    """A small Debian, as a directory or a tar archive.

    Args:
        target: what to make.
        packages: what to install beside the essential packages.
        files: a tar archive that is unpacked into it.
        hooks: shell commands that find the new system at $1, and the Python that runs this at $PODSIM_PYTHON.
        state: where temporary files may be.
        release: its code name; the host's by default.
    """
    release = release or host_release()
    sources = release_sources(release)
    overlay, apt = state.image / "rootfs.tar", state.image / "apt.conf"
    overlay.write_bytes(files)
    apt.write_text(host_apt_settings(), encoding="utf-8")
    run(
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        f"--include={','.join(packages)}",
        f"--aptopt={apt}",
        '--aptopt=Apt::Install-Recommends "false"',
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        f"--customize-hook=tar-in {shlex.quote(str(overlay))} /",
        *(f"--customize-hook={hook}" for hook in hooks),
        f'--customize-hook=cd "$1" && rm -f {REMOVED}',
        release,
        str(target),
        *sources,
        environment={"PODSIM_PYTHON": sys.executable},
    )


def root_files(folders: Mapping[Path, Iterable[str]], others: Mapping[str, Path] | None = None) -> bytes:
    """A tar archive of files, owned by root and the same on every machine.

    Args:
        folders: patterns of files by the folder that has them where the machine has them.
        others: other files, by their place on the machine.
    """
    found = dict(others or {}) | {
        str(path.relative_to(folder)): path
        for folder, patterns in folders.items()
        for pattern in patterns
        for path in folder.glob(pattern)
        if path.is_file() and path.suffix != ".pyc"
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, path in sorted(found.items()):
            member = tarfile.TarInfo(name)
            member.mode = 0o755 if path.read_bytes().startswith(b"#!") else 0o644
            member.size = path.stat().st_size
            with path.open("rb") as content:
                tar.addfile(member, content)
    return buffer.getvalue()
