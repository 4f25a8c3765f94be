"""Was a lesson used? The keyword rule case by case, and the bot's own detector in several languages."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from memory.model import Audience, Episode, Exemplar, Signal, Verdict
from memory.rules.use_detection import KeywordDetector, OverlapDetector, SimilarityDetector, overlap
from memory.rules.use_detection.vocabulary import Language
from memory.rules.use_detection.words import Term, terms
from tests.memory.rules.use_pairs import agreement, read_pairs

USED, IGNORED, UNKNOWN, CONTRADICTED = Signal.USED, Signal.IGNORED, Signal.UNKNOWN, Signal.CONTRADICTED


def numbered(count: int, stem: str = "keyword") -> str:
    return " ".join(f"{stem}{number:03}" for number in range(count))


def exemplar(
    output: str, *, goal: str = "", verdict: Verdict = Verdict.SUCCESS, correction: str = "", action: str = "answer"
) -> Exemplar:
    return Exemplar(
        episode=Episode(goal=goal, output=output, correction=correction, action=action),
        verdict=verdict,
        audience=Audience.PERSONAL,
        context_score=1.0,
        intent_score=1.0,
        relevance=1.0,
    )


# The keyword rule -------------------------------------------------------------------------------------------------

KEYWORD_CASES = [
    # (content, answer, keywords, how many of them are in the answer)
    ("basic", "deploy the server tonight", "we deploy the server", "deploy server tonight", 2),
    ("nothing in common", "kubernetes", "docker swarm", "kubernetes", 0),
    ("empty content", "", "anything", "", 0),
    ("empty answer", "deployment pipeline", "", "deployment pipeline", 0),
    ("both empty", "", "", "", 0),
    ("blank content", " \n\t ", " \n\t ", "", 0),
    ("short words do not count", "AWS S3 IAM fix", "AWS S3 IAM fix", "", 0),
    ("four letters are too few", "team", "team", "", 0),
    ("five are enough", "teams", "teams", "teams", 1),
    ("counted after stripping", "(t-e.a-m)", "team and (t-e.a-m)", "", 0),
    ("four digits", "1234", "1234", "", 0),
    ("five digits", "12345", "order 12345 shipped", "12345", 1),
    ("each word once", "Retry RETRY retry, (retry) Backoff", "backoff only", "retry backoff", 1),
    ("repeating in the answer adds nothing", "retry backoff jitter", "retry retry retry", "retry backoff jitter", 1),
    ("inside another word", "react", "they overreacted", "react", 1),
    ("singular in plural", "channel", "all channels", "channel", 1),
    ("plural in singular", "channels", "the channel", "channels", 0),
    ("no stemming", "deployment", "we deploy now", "deployment", 0),
    # the content is stripped of punctuation, the answer is not: identical text that does not match
    ("hyphen", "roll-back", "roll-back", "rollback", 0),
    ("address", "https://example.org", "https://example.org", "httpsexampleorg", 0),
    ("mail", "me@example.org", "me@example.org", "meexampleorg", 0),
    ("snake case", "user_profile_id", "user_profile_id", "userprofileid", 0),
    ("snake case joined", "user_profile_id", "use userprofileid here", "userprofileid", 1),
    ("version", "10.11.12", "10.11.12", "101112", 0),
    ("path", "src/main/app.py", "open src/main/app.py", "srcmainapppy", 0),
    ("commas without spaces", "alpha,bravo,charlie", "alpha,bravo,charlie", "alphabravocharlie", 0),
    ("apostrophe", "shouldn't", "you shouldn't", "shouldnt", 0),
    # white space is ECMAScript's: U+FEFF splits, U+0085 and U+001C do not
    ("no-break space", "deploy\u00a0server", "deploy and server", "deploy server", 2),
    ("ideographic space", "deploy\u3000server", "deploy and server", "deploy server", 2),
    ("line separator", "deploy\u2028server", "deploy and server", "deploy server", 2),
    ("byte order mark", "deploy\ufeffserver", "deploy and server", "deploy server", 2),
    ("next line", "deploy\u0085server", "deploy and server", "deployserver", 0),
    ("file separator", "deploy\u001cserver", "deploy and server", "deployserver", 0),
    ("em dash", "deploy—server", "deploy—server", "deployserver", 0),
    # only a-z and 0-9 are letters
    ("cyrillic", "развёртывание сервера", "развёртывание сервера", "", 0),
    ("chinese", "请重新启动服务器", "请重新启动服务器", "", 0),
    ("chinese with latin", "请重新启动postgres服务器", "已重启postgres", "postgres", 1),
    ("accents", "résumés", "résumés", "rsums", 0),
    ("umlaut by luck", "Übergabe", "die bergabe", "bergabe", 1),
    ("kelvin sign", "\u212aelvins", "kelvins", "kelvins", 1),
    ("full width", "ＡＢＣＤＥＦ", "ＡＢＣＤＥＦ", "", 0),
    ("emoji attached", "great👍 shipping🚀", "great shipping", "great shipping", 2),
    ("emoji alone", "👍👍👍👍👍👍", "👍👍👍👍👍👍", "", 0),
    # contradicting a memory reads as using it
    ("negated", "restart the database", "do not restart the database", "restart database", 2),
    ("words without meaning", "about there would could", "there would be something", "about there would could", 2),
]


@pytest.mark.parametrize(
    ("content", "answer", "keywords", "found"), [case[1:] for case in KEYWORD_CASES], ids=[c[0] for c in KEYWORD_CASES]
)
def test_the_keyword_rule(content: str, answer: str, keywords: str, found: int) -> None:
    expected = keywords.split()
    detector = KeywordDetector()
    assert detector.keywords(content) == expected
    ratio = found / len(expected) if expected else 0.0
    evidence = detector.match(content, answer)
    assert evidence.ratio == ratio
    assert evidence.signal is (USED if ratio > 0.3 else IGNORED)
    assert detector.detect(exemplar(content), "any question", answer, "any_tool") == evidence


@pytest.mark.parametrize(
    ("found", "of", "signal"),
    [
        (3, 10, IGNORED), (4, 10, USED), (6, 20, IGNORED), (7, 20, USED), (9, 30, IGNORED), (10, 30, USED),
        (30, 100, IGNORED), (31, 100, USED), (1, 3, USED), (1, 4, IGNORED), (2, 7, IGNORED), (0, 1, IGNORED),
    ],
)  # fmt: skip
def test_more_than_three_tenths_is_used(found: int, of: int, signal: Signal) -> None:
    evidence = KeywordDetector().match(numbered(of), numbered(found))
    assert (evidence.signal, evidence.ratio) == (signal, found / of)


# The bot's own rule -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "lesson", "answer", "signal"),
    [
        # the answer gives what the lesson taught
        ("When is lunch?", "Lunch is served at noon.", "At noon.", USED),
        ("What is the wifi password?", "It is hunter2, ask Bea", "Use hunter2.", USED),
        ("Wo ist das Büro?", "Im dritten Stock, Zimmer 12", "Das Büro ist im dritten Stock.", USED),
        ("Где сервер?", "Сервер стоит в подвале", "В подвале.", USED),
        ("¿Dónde está la oficina?", "En la calle Alcalá 12", "Está en la calle Alcala 12.", USED),
        ("会议室在哪里？", "会议室在三楼电梯旁边", "在三楼，电梯旁边。", USED),
        ("会議室はどこ？", "会議室は三階のエレベーターの横です", "三階のエレベーターの横にあります", USED),
        ("Deploy how?", "Run make release", "RUN `make release`!", USED),
        ("Where are they?", "In the re\u0301sume\u0301s folder", "Look into résumés.", USED),
        ("Where?", "deploy\u00adment\u200bs", "deployments", USED),
        # it does not; words of the question are no evidence
        ("When is lunch?", "Lunch is served at noon.", "Lunch is when lunch is.", IGNORED),
        ("What is the wifi password?", "hunter2", "I do not have the wifi password.", IGNORED),
        ("会议室在哪里？", "会议室在三楼电梯旁边", "我不知道，请问前台。", IGNORED),
        # it says the opposite
        ("May I restart the database?", "Restart it with systemctl", "Do not use systemctl.", CONTRADICTED),
        ("Darf ich neu starten?", "Ja, mit systemctl", "Nein, nicht mit systemctl.", CONTRADICTED),
        # there is nothing to judge by
        ("When is lunch?", "Lunch is served at noon.", "", UNKNOWN),
        ("When is lunch?", "Lunch is served at noon.", "👍", UNKNOWN),
        ("When is lunch?", "", "At noon.", UNKNOWN),
        ("When is lunch?", "👍", "At noon.", UNKNOWN),
    ],
)
def test_a_lesson_to_repeat(question: str, lesson: str, answer: str, signal: Signal) -> None:
    assert OverlapDetector().detect(exemplar(lesson, goal=question), question, answer, "answer").signal is signal


@pytest.mark.parametrize(
    ("mistake", "correction", "answer", "signal"),
    [
        ("At three.", "At noon.", "It is at noon.", USED),
        ("At three.", "At noon.", "It is at three.", CONTRADICTED),
        ("At three.", "", "It is at three.", CONTRADICTED),
        ("At three.", "At noon.", "It is at half past one.", UNKNOWN),
        ("At three.", "", "It is at half past one.", UNKNOWN),
        ("At three.", "At noon.", "", UNKNOWN),
        ("", "", "At noon.", UNKNOWN),
    ],
)
def test_a_lesson_to_avoid_is_judged_by_its_correction(
    mistake: str, correction: str, answer: str, signal: Signal
) -> None:
    """An AVOID lesson that works is one the answer does not echo."""
    question = "When is lunch?"
    lesson = exemplar(mistake, goal=question, verdict=Verdict.FAILURE, correction=correction)
    assert OverlapDetector().detect(lesson, question, answer, "answer").signal is signal


@pytest.mark.parametrize(
    ("verdict", "taught", "done", "signal"),
    [
        (Verdict.SUCCESS, "clock", "clock", USED),
        (Verdict.FAILURE, "clock", "clock", CONTRADICTED),
        (Verdict.SUCCESS, "expand", "expand", USED),
        (Verdict.SUCCESS, "clock", "calculator", IGNORED),
        (Verdict.FAILURE, "clock", "calculator", UNKNOWN),
        (Verdict.SUCCESS, "answer", "answer", IGNORED),
        (Verdict.SUCCESS, "none", "none", IGNORED),
    ],
)
def test_a_tool_is_recognised_by_its_name(verdict: Verdict, taught: str, done: str, signal: Signal) -> None:
    lesson = exemplar("It is 12:00 in Paris", verdict=verdict, action=taught)
    assert OverlapDetector().detect(lesson, "What time is it?", "42 euros", done).signal is signal


texts = st.text(max_size=60)


@given(texts, texts, texts, texts, st.sampled_from([Verdict.SUCCESS, Verdict.FAILURE]), st.sampled_from(["", "clock"]))
def test_any_text_can_be_judged(
    output: str, correction: str, question: str, answer: str, verdict: Verdict, action: str
) -> None:
    lesson = exemplar(output, goal=question, verdict=verdict, correction=correction)
    for detector in (KeywordDetector(), OverlapDetector()):
        evidence = detector.detect(lesson, question, answer, action)
        assert 0.0 <= evidence.ratio <= 1.0
        assert detector.detect(lesson, question, answer, action) == evidence


@given(texts, texts, texts)
def test_a_lesson_to_avoid_is_never_punished_for_being_avoided(output: str, correction: str, answer: str) -> None:
    lesson = exemplar(output, verdict=Verdict.FAILURE, correction=correction)
    assert OverlapDetector().detect(lesson, "", answer).signal is not IGNORED


@given(texts.filter(lambda text: any(character.isalnum() for character in text)))
def test_giving_the_taught_answer_is_using_it(output: str) -> None:
    signal = OverlapDetector().detect(exemplar(output), "", output, "answer").signal
    assert signal in (USED, UNKNOWN)


@given(st.lists(st.tuples(texts, texts), max_size=4), texts, texts)
def test_several_lessons_are_judged_as_each_alone(lessons: list[tuple[str, str]], question: str, answer: str) -> None:
    shown = [exemplar(output, goal=goal) for goal, output in lessons]
    detector = OverlapDetector()
    assert detector.detect_all(shown, question, answer) == [detector.detect(each, question, answer) for each in shown]


def test_an_answer_is_read_once_however_many_lessons_it_is_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str, languages: Sequence[Language]) -> list[Term]:
        read.append(text)
        return terms(text, languages)

    monkeypatch.setattr(overlap, "terms", counted)
    answer = "Hold the button for ten seconds, and then the light is green"
    shown = [exemplar(f"Hold the button until the light number {number} is green") for number in range(5)]
    OverlapDetector().detect_all(shown, "how do I reset the router?", answer)
    assert read.count(answer) == 1


# Against people's judgement ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("held_out", [False, True])
def test_it_judges_as_people_do(held_out: bool) -> None:
    pairs = read_pairs(held_out=held_out)
    assert len(pairs) > 100
    assert agreement(OverlapDetector(), pairs) >= 0.92
    assert agreement(KeywordDetector(), pairs) < 0.6  # the pairs are not easy


def test_meaning_is_a_second_opinion_where_words_say_nothing() -> None:
    lesson = exemplar("Take the lift to the canteen")
    asked: list[tuple[str, str]] = []

    def alike(one: str, other: str) -> float:
        asked.append((one, other))
        return 0.9 if "elevator" in other else 0.1

    detector = SimilarityDetector(detector=OverlapDetector(), similarity=alike)
    assert detector.detect(lesson, "Where?", "Ride the elevator up").signal is USED
    assert detector.detect(lesson, "Where?", "It rains").signal is IGNORED
    assert detector.detect(lesson, "Where?", "Never ride the elevator").signal is IGNORED
    assert asked == [(lesson.episode.output, "Ride the elevator up"), (lesson.episode.output, "It rains")]
