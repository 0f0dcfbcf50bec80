"""Read a file as bytes, decompressed if gzipped, or as UTF-8 text; errors say what is wrong with the file."""

import gzip
import zlib
from pathlib import Path

from headcount.exceptions import DataError, FileFormatError

__all__ = ["GZIP_MARK", "PARQUET_MARK", "content_of", "text_of"]

GZIP_MARK = b"\x1f\x8b"
PARQUET_MARK = b"PAR1"


def content_of(path: Path) -> bytes:
    """Bytes of a file, decompressed if gzipped."""
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; a file is needed.")
    content = path.read_bytes()
    named_gzip = path.suffix.lower() == ".gz"
    if named_gzip and not content.startswith(GZIP_MARK):
        raise FileFormatError(f"{path} ends in .gz but is not gzipped: rename it without .gz.")
    if content.startswith(GZIP_MARK):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"{path} is a damaged gzip file ({error}): copy or download it again.") from error
    if not content.strip():
        raise FileFormatError(f"{path} is empty.")
    return content


def text_of(content: bytes, path: Path) -> str:
    """Decode bytes as UTF-8 text, without a byte order mark."""
    if b"\x00" in content[:65536]:
        raise FileFormatError(f"{path} is a binary file, not text: check its format and ending.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{path} is not UTF-8 text: line {line} has the byte 0x{content[error.start]:02x}. Convert it, for example with "
            "'iconv -f latin1 -t utf-8'."
        ) from error
