"""The use cases of memory, grouped by purpose. `Memory` is the entry point of the library."""

import logging
from collections.abc import Sequence

from memory.errors import StoreUnavailable
from memory.model import ApprovalPolicy, TeachingPolicy
from memory.model.spending import Cap
from memory.model.upkeep import UpkeepPolicy
from memory.ports import Clock, Embedder, NewId, SecretFinder, Store
from memory.rules.chat_settings import NAMES
from memory.rules.control_arm import Chance, hash_fraction
from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.redaction import Redactor
from memory.rules.retrieval.config import RetrievalConfig
from memory.services.batches import (
    BatchDecision as BatchDecision,
    Batches,
    BatchPurge as BatchPurge,
    BatchReview,
    BatchUndo,
    BatchView as BatchView,
    EntryOutcome as EntryOutcome,
    EntryStatus as EntryStatus,
    Reviewer as Reviewer,
)
from memory.services.conversation.answers import Answers
from memory.services.conversation.exchanges import Exchanges
from memory.services.conversation.notices import DecisionNotice as DecisionNotice, DecisionNotices, Digests, Welcomes
from memory.services.conversation.reminders import Reminders
from memory.services.core import MESSAGE_CHARACTERS, Core
from memory.services.embedders import CheckedEmbedder, EmbedderNamed, OtherEmbedders
from memory.services.privacy.forget import ErasedCounts as ErasedCounts, PersonalData as PersonalData, Privacy
from memory.services.privacy.purge import Purge as Purge, Purging
from memory.services.recall.confusion import ConfusionEstimate
from memory.services.recall.evidence import Weighing
from memory.services.recall.recall import Recalling
from memory.services.recording.approvals import Approvals
from memory.services.recording.changes import MessageChanges
from memory.services.recording.choices import ChoiceResult as ChoiceResult, Choices
from memory.services.recording.earlier_texts import EarlierText as EarlierText
from memory.services.recording.feedback_in_words import FeedbackInWords, Opinion as Opinion
from memory.services.recording.finished_run import FinishedRun as FinishedRun
from memory.services.recording.journal import Journals
from memory.services.recording.preferences import Preference as Preference, Preferences
from memory.services.recording.record import Answer as Answer, Recording as Recording, UnsentAnswer as UnsentAnswer
from memory.services.recording.recover import Recovering
from memory.services.recording.spending import Spending
from memory.services.recording.used_lessons import UsedLesson as UsedLesson
from memory.services.reports.audit import Audit, RunView as RunView
from memory.services.reports.explain import (
    AnswerExplanation as AnswerExplanation,
    Explaining,
    LessonExplanation as LessonExplanation,
)
from memory.services.reports.gaps import Gap as Gap, Gaps
from memory.services.reports.handbook import Handbook, HandbookEntry as HandbookEntry
from memory.services.reports.knowledge_map import KnowledgeMap as KnowledgeMap, KnowledgeMaps
from memory.services.reports.overview import Overview as Overview, Overviews
from memory.services.settings.chat_settings import ChatSettings
from memory.services.settings.control_arm import ControlArm
from memory.services.settings.listening import Listening
from memory.services.teaching.correct import CORRECTION_CHARACTERS as CORRECTION_CHARACTERS
from memory.services.teaching.curation import Curation
from memory.services.teaching.restate import Restating
from memory.services.teaching.saving import SavedLesson as SavedLesson, Saving
from memory.services.teaching.teach import Teaching
from memory.services.topics import World, WorldPolicy
from memory.services.topics.facts import Facts
from memory.services.topics.taught_topics import TaughtTopics
from memory.services.upkeep import Upkeep as Upkeep
from memory.services.upkeep.api_keys import ApiKeys
from memory.services.upkeep.leases import ConversationLeases, Leases, SharedLeases
from memory.services.upkeep.monitoring import MemoryState as MemoryState, Monitoring
from memory.services.upkeep.reembedding import Reembedding
from memory.services.verdicts.channels import Channels
from memory.services.verdicts.model_grading import Guess as Guess, ModelGrades, guess_of as guess_of
from memory.services.verdicts.verdicts import LessonMark as LessonMark, VoteResult as VoteResult
from memory.services.verdicts.votes import Ratings

log = logging.getLogger(__name__)


class Memory:
    """All use cases of memory, for an agent, its users and its administrators.

    Synchronous and thread-safe; every use case is one transaction. On creation it finishes an erasure that an earlier
    process began. The optional parameters:

    - `candidates`: how many of the nearest episodes, after the similarity gate, enter the ranking;
    - `secrets`: finds secrets beyond the forms that `memory.rules.redaction` knows;
    - `guesses`: whether recall fills free places with the asker's own answers that only a model judged;
    - `message_characters`: the longest message accepted;
    - `settable`: the names of the settings that may be changed in chat;
    - `control_arm`: the share of runs that get no lessons, drawn by `chance`;
    - `approvals`: when tools with side effects may run;
    - `caps`: spending limits per day;
    - `world`: the configuration of the topics;
    - `embedder_named`: loads embedders that were used before. Lessons embedded by one of them are found with it until
      `reembedding` has embedded them anew; without it they are not found until then.

    With a file (`memory.adapters` has `sql.SqlStore`, `embedding.HashingEmbedder`, `system.utc_now`,
    `system.TimeOrderedIds`; `SentenceTransformerEmbedder` finds by meaning):

        store = SqlStore.open("sqlite:///memory.db")
        memory = Memory(store, HashingEmbedder(), clock=utc_now, new_id=TimeOrderedIds())
        ...
        store.close()

    A message takes `recording.accept`, `recalling.recall`, `recording.finish` and `recording.sent`; feedback on the
    answer `teaching.react`, `vote`, `correct` and `undo`; topics `world.ingest` and `world.query`. `channels.note`
    stores who can read a channel; `recording.accept` does this itself.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        clock: Clock,
        new_id: NewId,
        policy: TeachingPolicy | None = None,
        retrieval: RetrievalConfig | None = None,
        evidence: EvidenceConfig | None = None,
        candidates: int = 64,
        ledger_days: int = 30,
        secrets: SecretFinder | None = None,
        upkeep: UpkeepPolicy | None = None,
        guesses: bool = False,
        message_characters: int = MESSAGE_CHARACTERS,
        settable: frozenset[str] = NAMES,
        control_arm: float = 0.0,
        chance: Chance = hash_fraction,
        caps: Sequence[Cap] = (),
        approvals: ApprovalPolicy | None = None,
        world: WorldPolicy | None = None,
        embedder_named: EmbedderNamed = lambda name: None,
    ) -> None:
        checked = CheckedEmbedder(embedder)
        core = Core(
            store=store,
            embedder=checked,
            other_embedders=OtherEmbedders(store, checked, clock, embedder_named),
            clock=clock,
            new_id=new_id,
            policy=policy or TeachingPolicy(),
            ledger_days=ledger_days,
            redactor=Redactor(secrets),
            message_characters=message_characters,
            settable=settable,
            control_arm=control_arm,
            chance=chance,
            caps=tuple(caps),
            approvals=approvals or ApprovalPolicy(),
            evidence=evidence or EvidenceConfig(),
        )
        self.core, self.store, self.embedder = core, store, core.embedder
        self.clock, self.new_id = clock, new_id
        self.recalling = Recalling(
            core,
            retrieval or RetrievalConfig(),
            candidates,
            guesses=guesses,
            rule_from=(upkeep or UpkeepPolicy()).rule_from,
            weighing=Weighing(core),
        )
        self.upkeep = Upkeep(core, upkeep or UpkeepPolicy())
        self.world = _world(core, world)
        self.facts = Facts(core, self.world)
        self._offer_use_cases(core)
        self._finish_erasures()

    def _offer_use_cases(self, core: Core) -> None:
        """Create the use cases that need only the core and each other."""
        self.recording = Recording(core)
        self.changes = MessageChanges(core)
        self.answers = Answers(core)
        self.choices = Choices(core)
        self.approvals = Approvals(core)
        self.reminders = Reminders(core)
        self.exchanges = Exchanges(core)
        self.recovering = Recovering(core)
        self.journals = Journals(core)
        self.teaching = Teaching(core)
        self.curation = Curation(core)
        self.in_words = FeedbackInWords(core)
        self.channels = Channels(core)
        self.chat_settings = ChatSettings(core)
        self.control_arm = ControlArm(core)
        self.listening = Listening(core)
        self.model_grades = ModelGrades(core)
        self.privacy = Privacy(core)
        self.preferences = Preferences(core)
        self.welcomes = Welcomes(core)
        self.decision_notices = DecisionNotices(core)
        self.digests = Digests(core)
        self.saving = Saving(core)
        self.restating = Restating(core)
        self.reembedding = Reembedding(core)
        self.handbook = Handbook(core)
        self.batches = Batches(core)
        self.batch_review = BatchReview(core)
        self.batch_undo = BatchUndo(core)
        self.purging = Purging(core)
        self.ratings = Ratings(core)
        self.audit = Audit(core)
        self.overviews = Overviews(core)
        self.monitoring = Monitoring(core, self.upkeep)
        self.explaining = Explaining(core, self.audit)
        self.gaps = Gaps(core, self.recalling.weighing)
        self.confusion = ConfusionEstimate(core, self.recalling.weighing)
        self.maps = KnowledgeMaps(core)
        self.spending = Spending(core)
        self.leases = Leases(core)
        self.shared_leases = SharedLeases(core)
        self.conversation_leases = ConversationLeases(core)
        self.api_keys = ApiKeys(core)

    def _finish_erasures(self) -> None:
        try:
            self.privacy.finish()
        except StoreUnavailable as error:
            log.warning("an erasure did not finish and will be retried within the hour: %s", error)


def _world(core: Core, policy: WorldPolicy | None) -> World:
    """The topics, which include the lessons that people taught, as `TaughtTopics`."""
    return World(
        core.store,
        core.embedder,
        clock=core.clock,
        new_id=core.new_id,
        policy=policy,
        clean=core.redactor.text,
        sources=[lambda tx, scope: TaughtTopics(core=core, tx=tx, scope=scope, now=core.clock())],
    )
