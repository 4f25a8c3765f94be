"""The data types of the memory package: plain, frozen values. Imports only the standard library and the errors."""

from memory.model.chat_setting import (
    ChatSetting as ChatSetting,
    ListeningMode as ListeningMode,
    MutedThread as MutedThread,
    SettingChange as SettingChange,
)
from memory.model.delivery import (
    ASK as ASK,
    MOST_OPTIONS as MOST_OPTIONS,
    TAP as TAP,
    AbnormalExit as AbnormalExit,
    Exchange as Exchange,
    Incoming as Incoming,
    LedgerEntry as LedgerEntry,
    Offer as Offer,
    Option as Option,
    Outgoing as Outgoing,
    PostedPart as PostedPart,
    Progress as Progress,
    Tap as Tap,
    Turn as Turn,
    asked_step as asked_step,
    offers_of as offers_of,
    options_of as options_of,
)
from memory.model.entry import (
    ActionCall as ActionCall,
    EnvironmentState as EnvironmentState,
    Grade as Grade,
    GradeSource as GradeSource,
    MemoryEntry as MemoryEntry,
    Outcome as Outcome,
    SessionRun as SessionRun,
    ShortMemory as ShortMemory,
    StoredGrade as StoredGrade,
    StoredStep as StoredStep,
)
from memory.model.episode import (
    FROM_PEOPLE as FROM_PEOPLE,
    GAVE_UP as GAVE_UP,
    INITIAL_SALIENCE as INITIAL_SALIENCE,
    INITIAL_STRENGTH as INITIAL_STRENGTH,
    NEEDS_QUESTION as NEEDS_QUESTION,
    RESTATED as RESTATED,
    WORDY_ACTIONS as WORDY_ACTIONS,
    Episode as Episode,
    EpisodeStatus as EpisodeStatus,
    Origin as Origin,
    Step as Step,
    StepKind as StepKind,
    Termination as Termination,
    Usage as Usage,
    Verdict as Verdict,
    Verdicts as Verdicts,
    derive_status as derive_status,
    derive_strength as derive_strength,
    found_nothing as found_nothing,
)
from memory.model.events import Event as Event, EventKind as EventKind
from memory.model.permission import (
    AllowedAction as AllowedAction,
    ApprovalPolicy as ApprovalPolicy,
    Grant as Grant,
    Permission as Permission,
    StandingPermission as StandingPermission,
)
from memory.model.recall import (
    Exemplar as Exemplar,
    Lesson as Lesson,
    Link as Link,
    LinkKind as LinkKind,
    Recollection as Recollection,
    Retrieval as Retrieval,
    RetrievalItem as RetrievalItem,
    RuleLine as RuleLine,
    Signal as Signal,
    StageCounts as StageCounts,
    Vector as Vector,
)
from memory.model.scope import Audience as Audience, Channel as Channel, Scope as Scope, Visibility as Visibility
from memory.model.teaching import (
    MAX_WEIGHT as MAX_WEIGHT,
    KnownPeople as KnownPeople,
    PlacedVote as PlacedVote,
    Poll as Poll,
    Reaction as Reaction,
    Role as Role,
    Standing as Standing,
    TeachingPolicy as TeachingPolicy,
    TrustEvidence as TrustEvidence,
    TrustRecord as TrustRecord,
    Vote as Vote,
)
from memory.model.validation import is_in_calendar as is_in_calendar
