# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the certificates of secure mode: one authority, a certificate for the server, one for all its clients."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
import socket
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from podsim.vipu import tls

_ISSUER = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "vipu-ca")])
_VALID = datetime.timedelta(days=3650)
_PEM = serialization.Encoding.PEM


def generate(directory: Path, names: list[str]) -> tuple[Path, Path]:
    """Writes ca.crt, tls.crt and tls.key for server and clients below the directory; gives both places.

    The certificates are for localhost, this host's name and its addresses, and `names` (host names or addresses).
    """
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _builder(_ISSUER, authority_key, is_authority=True).sign(authority_key, hashes.SHA256())
    hosts = x509.SubjectAlternativeName(
        [_general_name(name) for name in dict.fromkeys(["localhost", "127.0.0.1", *_own_names(), *names])]
    )
    for role in ("server", "client"):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"vipu-{role}")])
        builder = _builder(subject, key, is_authority=False).add_extension(hosts, critical=False)
        _write(directory / role, authority, builder.sign(authority_key, hashes.SHA256()), key)
    return directory / "server", directory / "client"


def _own_names() -> list[str]:
    name = socket.gethostname()
    with contextlib.suppress(OSError):  # a host that does not know its own address
        return [name, *(str(address[4][0]) for address in socket.getaddrinfo(name, None, socket.AF_INET))]
    return [name]


def _builder(subject: x509.Name, key: ec.EllipticCurvePrivateKey, is_authority: bool) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_ISSUER)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write(
    directory: Path, authority: x509.Certificate, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    private = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files = tls.files(directory)
    contents = {
        files.authority: (0o644, authority.public_bytes(_PEM)),
        files.certificate: (0o644, certificate.public_bytes(_PEM)),
        files.key: (0o600, private),
    }
    for path, (mode, content) in contents.items():
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(content)
