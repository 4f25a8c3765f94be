"""Documents whose text cannot be read say so, whatever the library that reads them raises."""

from io import BytesIO

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from bot.adapters.tools.page_text import html_text, pdf_text
from bot.errors import ToolFailed


def document() -> bytes:
    """A PDF with one line."""
    writer, written = PdfWriter(), BytesIO()
    page = writer.add_blank_page(200, 200)
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    line = DecodedStreamObject()
    line.set_data(b"BT /F1 12 Tf (The canteen opens at eleven) Tj ET")
    page[NameObject("/Contents")] = writer._add_object(line)
    writer.write(written)
    return written.getvalue()


def test_the_text_of_a_document() -> None:
    assert pdf_text(document()) == "The canteen opens at eleven"


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        pytest.param(b"/Count 1", b"/Count 1\n/Kids 7", id="PdfReadError"),
        pytest.param(b"trailer\n<<", b"trailer\nnull", id="AttributeError"),
        pytest.param(b"trailer\n<<", b"trailer\n[0]", id="ValueError"),
        pytest.param(b"/Length 48", b"/Length null", id="TypeError"),
        pytest.param(b"/Length 48", b"/Length 48\n/Filter /Unknown", id="NotImplementedError"),
        pytest.param(b"/F1 12 Tf", b"1 0 R 12 Tf", id="AssertionError"),
        pytest.param(b"(The canteen", b"[" * 5_000 + b"(The canteen", id="RecursionError"),
    ],
)
def test_a_damaged_document_cannot_be_read(whole: bytes, damaged: bytes) -> None:
    """Named for what pypdf 6 raises: seven classes with no root but `Exception`."""
    assert document().count(whole) == 1
    with pytest.raises(ToolFailed, match="That PDF cannot be read: "):
        pdf_text(document().replace(whole, damaged))


def test_a_page_of_very_many_elements_is_read_without_looking_for_its_main_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def extract(*_: object, **__: object) -> str:
        raise AssertionError("it takes a minute for such a page")

    monkeypatch.setattr("trafilatura.extract", extract)
    hidden = "<style>p {}</style><script>no()</script>"
    lines = "<p>a line</p><!-- no -->\n" * 20_000
    title, text = html_text(f"<title>Long</title>{hidden}{lines}<p>end")
    assert (title, text[:18], text[-3:]) == ("Long", "Long a line\na line", "end")
