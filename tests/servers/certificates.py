"""A certificate authority of a company's own, for servers that only a client who trusts it may talk to."""

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

BEGIN = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
END = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)


class Authority:
    """Signs a certificate for this machine's loopback. `file` is what a client must trust, as PEM."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "authority.pem"
        self._server_file = folder / "server.pem"
        key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        authority = _builder("Test Authority", "Test Authority", key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        server = _builder("localhost", "Test Authority", server_key).add_extension(
            x509.SubjectAlternativeName(names), critical=False
        )
        self.file.write_bytes(_pem(authority.sign(key, hashes.SHA256())))
        secret = server_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        self._server_file.write_bytes(secret + _pem(server.sign(key, hashes.SHA256())))

    def server_context(self) -> ssl.SSLContext:
        """What a server needs to show its certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._server_file)
        return context


def _builder(subject: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        subject_name=_name(subject),
        issuer_name=_name(issuer),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=BEGIN,
        not_valid_after=END,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
