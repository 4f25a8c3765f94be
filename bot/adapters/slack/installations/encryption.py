"""Encrypts Slack's tokens at rest: Fernet (AES-128-CBC and HMAC-SHA256, cryptography.io/en/latest/fernet).

Keys are rotated by adding a new one in front: the first key encrypts, all keys decrypt.
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr
from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from bot.errors import ConfigError

_SETTING = "slack.token_key (GOODBOT_SLACK_TOKEN_KEY)"
_MAKE_ONE = 'make one with: python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'


class TokenCipher:
    """Encrypts and decrypts texts. `keys` are Fernet keys with commas between them; raises `ConfigError` otherwise."""

    def __init__(self, keys: SecretStr) -> None:
        names = [name for part in keys.get_secret_value().split(",") if (name := part.strip())]
        if not names:
            raise ConfigError(f"{_SETTING} is missing: Slack's tokens are kept encrypted; {_MAKE_ONE}")
        try:
            fernets = [Fernet(name) for name in names]
        except ValueError:
            # From nothing: the error may quote the key.
            raise ConfigError(
                f"{_SETTING} must be 32 bytes in URL-safe base64, or several such keys with commas; {_MAKE_ONE}"
            ) from None
        self._first = fernets[0]
        self._all = MultiFernet(fernets)

    def encrypt(self, text: str) -> str:
        """Encrypt with the first key."""
        return self._first.encrypt(text.encode()).decode()

    def decrypt(self, secret: str) -> str:
        """Decrypt with any of the keys. Raises `ConfigError` if none fits."""
        try:
            return self._all.decrypt(secret).decode()
        except InvalidToken:
            raise ConfigError(
                f"{_SETTING} does not hold the key that a stored Slack token was encrypted with: put that key back, "
                "after a comma if there is a new one, or delete the stored installations and install the app again"
            ) from None

    def is_of_first_key(self, secret: str) -> bool:
        """Whether the first key encrypted it."""
        try:
            self._first.decrypt(secret)
        except InvalidToken:
            return False
        return True


class EncryptedText(TypeDecorator[str]):
    """A column type for encrypted text."""

    impl = Text
    cache_ok = True

    def __init__(self, cipher: TokenCipher) -> None:
        super().__init__()
        self.cipher = cipher

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Encrypt a value for the database."""
        return None if value is None else self.cipher.encrypt(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Decrypt a value from the database."""
        return None if value is None else self.cipher.decrypt(value)
