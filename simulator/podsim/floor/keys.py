# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and certificates of one simulated pod: the operator's SSH key, host keys known beforehand, the switches' TLS.

Each is made once and kept until the pod is removed.
"""

from __future__ import annotations

import datetime
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_ssh_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podsim.floor.plan import SWITCH_USER, Floor, Kind
from podsim.floor.state import StateDirectory, write_private

LIFETIME = datetime.timedelta(days=3650)


def make_keys(floor: Floor, state: StateDirectory) -> None:
    """Make what is missing of keys and certificates, and the files with which ssh reaches every machine by name."""
    operator = _ssh_key(state.private_key)
    state.public_key.write_text(f"{operator} podsim\n", encoding="ascii")
    known_hosts, addresses = [], []
    for machine in floor.machines:
        if machine.kind is Kind.IPU_MACHINE:
            continue
        directory = state.machine(machine.name)
        directory.mkdir(exist_ok=True)
        host_key = _ssh_key(directory / "ssh_host_ed25519_key")
        (directory / "authorized_keys").write_text(f"{operator} podsim\n", encoding="ascii")
        (directory / "sshd_listen.conf").write_text(f"ListenAddress {machine.address}\n", encoding="ascii")
        known_hosts.append(f"{machine.address},{machine.name} {host_key}\n")
        addresses.append(f"Host {machine.name}\n  HostName {machine.address}\n")
    for switch in floor.switches:
        directory = state.switch(switch.name)
        directory.mkdir(exist_ok=True)
        host_key = _ssh_key(directory / "ssh_host_ed25519_key")
        known_hosts.append(f"{switch.address},{switch.name} {host_key}\n")
        addresses.append(f"Host {switch.name}\n  HostName {switch.address}\n  User {SWITCH_USER}\n")
        if not (directory / "cert.pem").exists():
            _make_certificate(state, directory, switch.name, switch.address)
    state.known_hosts.write_text("".join(known_hosts), encoding="ascii")
    common = f"Host *\n  User root\n  IdentityFile {state.private_key}\n  UserKnownHostsFile {state.known_hosts}\n"
    state.ssh_config.write_text("".join([*addresses, common]), encoding="ascii")


def _ssh_key(path: Path) -> str:
    """The public half, in OpenSSH's form, of the private key at `path`, which is made if it does not exist."""
    if not path.exists():
        private = ed25519.Ed25519PrivateKey.generate()
        write_private(path, private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = load_ssh_private_key(path.read_bytes(), password=None).public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode("ascii")


def _make_certificate(state: StateDirectory, directory: Path, name: str, address: IPv4Address) -> None:
    """A server certificate for a switch's address and name, signed by the pod's CA, which is made if missing."""
    if not state.ca_certificate.exists():
        _make_ca(state)
    ca_key = load_pem_private_key(state.ca_key.read_bytes(), password=None)
    assert isinstance(ca_key, ec.EllipticCurvePrivateKey)
    ca = x509.load_pem_x509_certificate(state.ca_certificate.read_bytes())
    key = ec.generate_private_key(ec.SECP256R1())
    names = x509.SubjectAlternativeName([x509.IPAddress(address), x509.DNSName(name)])
    certificate = (
        _certificate(name, key.public_key(), ca.subject)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    write_private(directory / "key.pem", _pem(key))
    (directory / "cert.pem").write_bytes(certificate.public_bytes(Encoding.PEM))


def _make_ca(state: StateDirectory) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "podsim CA")])
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _certificate("podsim CA", key.public_key(), subject)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private(state.ca_key, _pem(key))
    state.ca_certificate.write_bytes(certificate.public_bytes(Encoding.PEM))


def _certificate(name: str, key: ec.EllipticCurvePublicKey, issuer: x509.Name) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
