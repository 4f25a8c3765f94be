"""Patterns for the words by which people say in a chat that an answer was wrong or right, in English and German.

Each pattern is matched at a given position and does not backtrack, so matching takes time linear in the text's length.
"""

import re
from functools import cached_property


class Phrase:
    """A pattern of whole words that ignores case, missing or curly apostrophes and the amount of white space.

    Compiled on first use: to compile all of them takes longer than to answer a message.
    """

    def __init__(self, words: str) -> None:
        bent = words.replace("'", "['’]?").replace(" ?", r"\s*").replace(" ", r"\s+")
        self.pattern = rf"(?<!\w)(?:{bent})(?!\w|['’]\w)"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """The phrase at this position."""
        return self._compiled.match(text, at)

    def search(self, text: str, at: int = 0) -> re.Match[str] | None:
        """The first occurrence of the phrase from this position on."""
        return self._compiled.search(text, at)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The phrase and nothing else."""
        return self._compiled.fullmatch(text)


SEPARATOR = re.compile(r"(?:[\s,;:!…–—()👎🙄🙁☹😕]|\.(?=[\s.]|$)|-(?=\s))++")
CLAUSE_END = re.compile(r"[,;!…\n]++\s*+|[.:]++(?:\s++|$)|\s[–—-]\s|\s(?=(?:but|sondern)\s)", re.IGNORECASE)
STOP = re.compile(r"\s*+(?:$|-\s|[^\w\s'’\"`#@/%€$&+=<>*~-])")
"""The end of a clause, looked for right after a phrase."""

_NOT = "(?:do|does|did|is|are|was|were|ca|could|wo|would|should|has|have|had|ai)n['’]?t"
_TOO = (
    r"(?:(?:quite|totally|completely|complete|total|utter|simply|plain|so|also|actually|really|still|sadly"
    r"|definitely|all|clearly"
    r"|a bit|the|an?"
    r"|leider|aber|völlig|total|ganz|einfach|doch|ja|auch|wirklich|definitiv|inzwischen|eben|schon|eine?) )*+"
)
_WRONG = (
    r"(?:(?:wrong|false|incorrect|bad|outdated) (?:answer|info|information|advice|there)|wrong|made up"
    r"|incorrect|false|inaccurate|untrue|mistaken|nonsense|rubbish|bs"
    r"|bullshit|outdated|obsolete|out of date|not up to date|deprecated|no longer (?:right|correct|true|valid"
    r"|current|the case)"
    r"|not (?:(?:quite|entirely|at all|even|really|the) )*+(?:right(?! now)|correct|true|accurate|it|valid"
    r"|current|the case|helpful"
    r"|(?:right|correct) answer|what i (?:asked|meant|wanted|needed)(?: for)?|how (?:we|you|it|this"
    r"|that) \w+(?: \w+)?)"
    r"|falsch(?:e antwort)?|verkehrt|inkorrekt|veraltet|überholt|unsinn|quatsch|blödsinn"
    r"|nicht (?:(?:ganz|wirklich|so|mehr) )*+(?:richtig|korrekt|wahr|aktuell|die richtige antwort"
    r"|was ich (?:gefragt|gemeint|gesucht) \w+))"
)
_THAT = (
    r"(?:(?:that|this|it|your|the|das|dies|es|die|deine) ?(?:(?:last )?(?:answer|info|information|reply|page|antwort"
    r"|auskunft))?|you)"
)
STRONG = Phrase(
    rf"{_THAT}(?:'s|'re| is| was| are| were| looks| seems| sounds| ist| war| wäre) {_TOO}{_WRONG}"
    rf"|{_THAT} ?(?:is|was|are|were)n't {_TOO}(?:right|correct|true|it|accurate|helpful|up to date|the (?:right"
    rf"|correct) answer"
    rf"|what i \w+(?: for)?|how (?:we|you|it) \w+(?: \w+)?)"
    rf"|{_TOO}{_WRONG}"
    rf"|(?:(?:das|die antwort|es) )?+stimmt {_TOO}(?:so |mehr )*+nicht(?: mehr| ganz| so)*+"
    r"|i don't think (?:so|(?:that|it|this)(?:'s| is) (?:right|correct|true))|(?:das )?glaube? ich nicht"
    r"|you (?:mixed|messed) (?:that|this|it|them|something) up|you(?:'re| are) mixing \w+ up"
    rf"|{_THAT} (?:can't|cannot|can not|couldn't) be (?:right|correct|true|it)"
    rf"|{_THAT}(?:'s| is| was) not (?:where|when|who|whom|why|which \w+) (?:we|you|it|they|people"
    rf"|the \w+) \w+(?: \w+)?"
    rf"|{_THAT}(?:'s| is| was) (?:simply |just )?an? (?:lie|mistake|error|myth|hallucination)"
    rf"|{_THAT} (?:does|do)(?:n't| not) (?:sound|look|seem) (?:right|correct)"
    rf"|{_THAT}(?:'s|'re| is| are) (?:(?:a (?:bit|little)|way|quite|totally) )?off|you(?:'re| are) (?:mistaken"
    rf"|confused)"
    r"|you(?:'ve)? (?:got|have|had) (?:that|this|it|them) (?:all |completely )?wrong"
    r"|i (?:really |very much |strongly )?doubt (?:that|it|this)"
    r"|you (?:made|are making|'re making) (?:that|this|it) up|you (?:just )?(?:invented|hallucinated) (?:that"
    r"|this|it)"
    r"|(?:non[, ]+)?(?:c'est|ce n'est|c'était) (?:faux|pas (?:ça|vrai|correct|juste|exact|la bonne réponse))"
)
"""Says of the answer that it is wrong."""
NAMES_WRONG = Phrase(
    rf"(?:(?:the|this|that|your|der|die|das) )?(?P<what>[\w-]+)(?:'s| is| was| are| ist| war| sind) {_TOO}{_WRONG}"
)
"""Says that a named thing is wrong: "the room is wrong"."""
FAILED = Phrase(
    r"(?:(?:i(?:'ve)? )?(?:just )?tried (?:it|that|this|everything),? (?:but )?)?+"
    r"(?:(?:it|that|this|das|es) )?+(?:(?:still|leider|immer noch) )?+"
    r"(?:(?:did|does|do)(?:n't| not) (?:(?:really|even) )?+(?:work|help|fix (?:it|anything)|solve (?:it"
    r"|anything)|exist)"
    r"|(?:is )?(?:still )?not working|useless|unhelpful|bad answer|(?:still )?(?:the )?same (?:error|problem"
    r"|issue|result|message)"
    r"|still (?:nothing|broken|the same)|no (?:luck|change|effect|success|difference)|nothing (?:happens"
    r"|happened|changed)"
    r"|hat (?:leider |bei mir |mir |auch |aber )*+nicht (?:geklappt|funktioniert|geholfen|gestimmt)"
    r"|(?:klappt|funktioniert|geht|hilft)(?: (?:mir|bei mir|so|leider|aber|immer noch|auch))*+ nicht(?: weiter)?+)"
    r"(?: (?:for me|me|at all|either|here|though|bei mir|anymore|any more))*+"
)
"""Says of the answer that it was of no use."""
NO = Phrase(r"no+|nope|nah+|nein|nee*|nö+|non")
"""Refuses an answer by itself."""
NOT_THERE = Phrase(
    r"(?:(?:i(?:'ve)? )?(?:just )?(?:checked|looked|tried)[,.;:]? )?(?:(?:it|that|they)(?:'s|'re| is| are)? )?"
    r"(?:not|no longer) (?:in )?(?:there|here)"
)
"""Says that something is not at the place that the answer named."""
SAME_KIND = Phrase(r"(?:the )?(?:wrong|falsche\w?) (?P<kind>\w+)")
_KINDS = (
    "day date month year time hour room place floor building name person number address link url code tag monat jahr"
)
KINDS = frozenset(f"{_KINDS} uhrzeit raum ort name nummer adresse zimmer".split())
"""The kinds of thing that `SAME_KIND` may name: "wrong room" says that another room is right, if one follows."""
BELIEVES = Phrase(
    r"i (?:think|believe|guess|thought|heard)(?: that)?|i(?:'m| am) (?:(?:pretty|quite|fairly|very"
    r"|almost) )?(?:sure|certain)"
    r"(?: that)?|afaik|as far as i know|(?:ich )?(?:glaube|denke)|soweit ich weiß|meines wissens"
)
"""Says that something else may be right, if an answer can follow."""
SHOULD_BE = Phrase(r"(?:(?:it|that|this|they|he|she) )?should (?:be|have been|say|read)|(?:das )?(?:sollte|müsste)")
"""Says what is right, if that is what follows."""
CONTRARY = Phrase(
    r"actually|in fact|almost|nearly|not quite|close"
    r"|not (?:any ?more|any longer|since \w+)|nicht mehr"
    r"|eigentlich|tatsächlich|doch|fast"
)
"""Says that something else is right, if something follows."""
IT_IS = re.compile(r"(?:(?:it|that)(?:['’]?s|\s+is)|es\s+ist)\s", re.IGNORECASE)
FILLER = Phrase(
    r"h+m+|u+h+m*|u+m+|er+m|ah+|oh+|well|ok|okay|hey|hi|sorry|sry|pardon|but|aber|sondern|na ?ja|ä+h*m*|also"
    r"|ach|lol|haha+"
    r"|unfortunately|i'm afraid|leider"
    r"|tut mir leid|bot|goodbot|mate|dude"
    r"|(?:thanks?|thx|ty|thank you|danke(?: dir)?)(?: a lot| so much)?(?:,? (?:but|aber))"
)
SHOULD = Phrase(
    r"you should have said|correction|korrektur|richtigstellung|the answer should (?:be|have been)"
    r"|(?:the )?(?:right|correct|current|new) \w+ (?:is|was|would be|would have been)"
    r"|(?:die )?richtige? (?:antwort )?(?:ist|lautet|wäre|wär)"
    r"|(?:it|that|they|he|she)(?:'s|'re| is| are) (?:actually|in fact)|(?:es|das|er|sie) ist (?:eigentlich"
    r"|tatsächlich)"
)
"""Says what is right without saying before that something is wrong."""
NOT_A_NO = Phrase(
    r"(?:oh|ach|ah),? (?:my|no+|nein|nee+|nö+)|no+[.:] ?\d.*|wow.*|yuck.*|just wrong|that's just (?:wrong|not right)"
)
"""Looks like a refusal but is dismay, surprise or a number."""

# What comes after a refusal --------------------------------------------------------------------------------------

COURTESY = Phrase(
    r"thanks?|thank|thx|cheers|danke|bitte|please|problem|worries|need|idea|rush|way|matter|doubt|more|nothing"
    r"|never ?mind|nvm"
    r"|not (?:yet|now|really|today|necessary|needed|at the moment|right now|that|sure|anymore|urgent|important"
    r"|for now)"
    r"|all (?:good|fine|clear|set)|good|fine|ok|okay|sure|right|exactly|correct|yes|yeah|yep|agreed|great|cool"
    r"|perfect"
    r"|seriously|really|maybe|whatever|just|only (?:asking|curious|wondering)|of course|enough|forget it"
    r"|leave it|good point"
    r"|(?:that|it)(?:'s| is| was| will be| would be) (?:all )?(?:fine|ok|okay|all|it|enough|great|good|perfect"
    r"|cool|alright"
    r"|all right|everything|nothing|clear|helpful|just|too|really|so|not (?:urgent|necessary|important|needed"
    r"|you|that)"
    r"|right|correct|true|what i (?:needed|wanted|thought))|that (?:helps|works|worked|helped|does it|did it)"
    r"|(?:das )?(?:reicht|passt|genügt|war's|wars)|(?:das )?(?:wäre|ist|war) (?:alles|gut|ok|okay|in ordnung"
    r"|perfekt|super|nett)"
    r"|alles (?:gut|klar)|schon (?:gut|ok|okay)|macht nichts|kein\w* \w+|egal|noch nicht|gerade nicht|im moment nicht"
    r"|heute nicht|nicht (?:nötig|wirklich|so wichtig|dringend)|vielleicht|weiter nichts|sonst nichts|nichts"
    r"|genau|richtig"
    r"|stimmt|klar|ja|nur (?:so|neugierig)|(?:it|that|this)(?:'s| is) (?:for|about|with|because|regarding|from"
    r"|my|me|us)|the same|you too|as you say|go ahead"
)
"""After a refusal: shows that it was politeness, or an answer to something else."""
SELF = Phrase(
    r"(?:(?:and|but|because|cause|as|since|weil|und|aber|da) )*+(?:i(?:'m|'ve|'d|'ll)?|my|me|mine|ich|mir|mich"
    r"|mein\w*"
    r"|we (?:have(?:n't| not| no)|did(?:n't| not)?|do(?:n't| not)|can(?:'t|not)?|won't|need|want|tried|would"
    r"|were|will)"
    r"|we(?:'ll|'re)|wir (?:haben (?:noch )?(?:kein|nicht)\w*|brauchen|wollen|möchten|können))"
)
"""Begins a clause in which people speak of themselves."""
MEANT = Phrase(
    r"(?:i|ich)(?: \w+){0,2}? (?:meant?|typed|wrote|asked|wanted|meinte?|wollte|hatte|habe|suche|tippte)(?: .*)?"
)
"""Puts a question another way."""
REQUEST = Phrase(
    r"(?:(?:please|pls|bitte|just|then|so|now|and|dann|mal) )*+"
    r"(?:(?:try|look|check|search|read|think|do|answer|versuch\w*|schau\w*|prüf\w*|such\w*|lies|denk)(?: \w+){0,4}? "
    r"(?:again|once more|harder|properly|better|noch ?mal|nochmals|erneut|genauer)|again|retry|rethink|redo|rephrase"
    r"|(?:tell|show|give|find|send|get|help|remind|ask) me|explain|list|summari[sz]e|translate|repeat|stop|wait"
    r"|hold on"
    r"|forget|ignore|delete|cancel|leave|let(?:'s| me| us)|don't|do not|remove|shorten|keep|be (?:more|less)"
    r"|make (?:it|that)"
    r"|noch ?mal|zeig\w*|sag\w*|erklär\w*|gib mir|nenn\w*|warte?|stopp?|vergiss|lass\w*|übersetz\w*|wiederhol\w*)"
)
"""Asks the bot for something."""
STYLE = Phrase(
    r"(?:[\w']+ ){0,4}?(?:in (?:english|german|french|spanish|deutsch|plain \w+|simple \w+|a (?:table|list)"
    r"|short|one sentence"
    r"|bullet\w*)|auf (?:deutsch|englisch|französisch)|emojis?|smileys?|too (?:long|short|formal|much"
    r"|complicated|verbose"
    r"|detailed|vague)|zu (?:lang|kurz|förmlich|kompliziert|ausführlich|viel)|more (?:details?|formal|concise)"
    r"|shorter|kürzer"
    r"|less (?:detail|formal)|mehr details?|bullet points?|stichpunkte?|einfacher|simpler)"
)
"""Says how somebody wants to be answered, which is no correction."""
OTHER = Phrase(
    r"(?:not )?(?:(?:the|that|this|those|these|a|an|my) )?(?:\w+ )?(?:ones?|others?)|(?:the )?(?:another"
    r"|other) \w+|(?:for|with|without|about"
    r"|of|from|für|mit|ohne|über|von|bei|wegen)(?: [\w'-]+){1,3}|in general|(?:nicht )?(?:das|den|die|der"
    r"|ein\w*) ander\w*(?: \w+)?"
)
"""Points to something else that the question may have been about."""
DENIES = re.compile(rf"\b(?:not|no|{_NOT}|cannot|nicht|kein\w*|never|nie|nobody|niemand)\b", re.IGNORECASE)
"""Occurs in a clause that denies something and states nothing else."""
GONE = re.compile(
    r"\b(?:gone|dead|resigned|quit|old|cancell?ed|abolished|stopped|expired|merged|broken|took over"
    r"|changed|renamed|moved"
    r"|left|retired|deprecated|obsolete|outdated|removed|replaced|closed|any ?more"
    r"|no longer|doesn['’]?t"
    r" exist|there(?:['’]?s| is| are) no|es gibt kein\w*|nicht mehr|weg|abgeschafft|geschlossen|alte?)\b",
    re.IGNORECASE,
)
"""Occurs in a clause about what was replaced."""
ENDED = re.compile(
    r"\b(?:gone|dead|resigned|quit|cancell?ed|abolished|stopped|expired|broken|retired|deprecated|obsolete|removed|replaced"
    r"|closed|discontinued|(?:switched|turned|shut|closed) "
    r"(?:off|down)|no longer (?:exists?|there|used|available)|abgeschafft|abgeschaltet|geschlossen|eingestellt)\b",
    re.IGNORECASE,
)
"""Occurs in a clause that says only that something is over."""
STARTED = Phrase(
    r"c'est|ce sont|it|its|it's|they|they're|he|he's|she|she's|that's|this is|that is|there|there's|you|you're"
    r"|we|every\w*"
    r"|nobody|somebody"
    r"|people|only|since|now|nowadays|after|before|until|as of|for|the \d\S*|es|er|sie|man|du|ihr|wir|jetzt"
    r"|seit|inzwischen"
    r"|mittlerweile|ab|nur|dafür|dazu|dort|hier"
)
"""Begins a sentence that states something."""
STATES = re.compile(
    r"(?:[\w'’\-./]+\s+){1,5}?(?:(?:is|are|was|were|has|have|had|will|must|should|can|could|may|moved|changed"
    r"|ist|sind|war|hat|haben"
    r"|muss|müssen|kann|können|darf|soll\w*|wird|werden|gibt|liegt|steht|hängt|geht|kommt|kostet|findet|heißt"
    r"|macht|öffnet"
    r"|schließt|beginnt|endet|läuft|dauert|braucht|sitzt|gehört|gilt|fährt)|(?:need|go|come|open|close|start"
    r"|end|begin|cost|take"
    r"|live|sit|work|belong|run|mean|use|lie|stand|leave|expire|last|require|happen|handle|own|stay|allow|pay"
    r"|get|meet|park|send"
    r"|hang|want|keep|know)(?:e?s)?)\s+\S",
    re.IGNORECASE,
)
"""A statement recognised by its verb."""
INSTRUCTION = re.compile(
    r"(?:(?:first|always|better|rather|just|simply|please|erst|lieber|einfach|bitte)\s+)*+(?:ask|call|use|go"
    r"|press|hold|click"
    r"|open|contact|e-?mail|write|see|talk|speak|take|turn|push|pull|put|send|check|look|try|run|type|enter"
    r"|dial|book|order"
    r"|restart|reboot|install|plug|unplug|switch|log|sign|submit|fill|visit|bring|head|walk|follow|select"
    r"|choose|set|scan|ring"
    r"|file|frag\w*|ruf\w*|nimm|nehm\w*|geh\w*|benutz\w*|nutz\w*|verwende\w*|drück\w*|klick\w*|öffne\w*"
    r"|schick\w*|schreib\w*"
    r"|melde\w*|wende\w*|schau\w*|stell\w*|starte\w*|wähl\w*|kontaktier\w*|zieh\w*)\s+(?P<next>\S++)",
    re.IGNORECASE,
)
DONT = Phrase(r"don't|do not|never|nicht")
DEFINITE = re.compile(
    r"(?:the|an?|your|our|my|it|this|that|them|to|in|den|die|das|dem|der|eine?n?|im|am|zu[mr]?)$|[#@`'\"A-Z\d]"
)
OBLIGES = Phrase(
    r"(?:(?:you|we|people|man|du|ihr|wir) )(?:have to|need (?:to|an?|the|your)|must|should|muss\w*|müss\w*|soll\w*)"
)
SINCE = Phrase(r"nowadays|these days|instead|since|inzwischen|mittlerweile|stattdessen|seit")
FIRST_PERSON = Phrase(r"i|i'm|i've|i'd|i'll|me|my|mine|ich|mir|mich|mein\w*|please|bitte")
UNIMPORTANT = Phrase(
    r"hurry|rush|need(?:ed)?|necessary|urgent|matter|problem|deal|issue|worry|bother|mind|important|eilig|nötig"
    r"|dringend"
    r"|schlimm|wichtig|brauch\w*|notwendig"
)
"""Denied, these are politeness: "no hurry"."""
DEICTIC = Phrase(r"it|its|that|this|there|they|he|she|you|das|es|da|dort|die|der|dies\w*|er|sie")
SPELLED = re.compile(r"`[^`]+`|<?(?:https?://\S+|[\w.+-]+@[\w.-]+|[\w-]+(?:\.[\w-]+)+(?:[:/]\S*)?)>?")
"""An address, a host, code: nothing but a value."""
PLACE_OR_TIME = re.compile(
    r"\b(?:(?:over|down|up|right|still|just|direkt|gleich|oben|unten|drüben|hinten|vorne)\s+)?+(?:in|on|at"
    r"|under|behind|next to"
    r"|beside|above|below|near|inside|outside|between|opposite|upstairs|downstairs|im|am|auf|unter|hinter|neben"
    r"|über|beim"
    r"|zwischen|gegenüber|vor|um|bis|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei"
    r"|sams|sonn)tags?"
    r"|mittwochs?|noon|midnight|mittags?|mitternacht)\b",
    re.IGNORECASE,
)
ASKS_WHERE_OR_WHEN = re.compile(
    r"\b(?:where|when|what time|which (?:day|room|floor)|wo|wann|wohin|welche[rmns]? \w+)\b", re.IGNORECASE
)
ASKS_FOR_VALUE = re.compile(r"\b(?:what|which|how|welche\w*|was|wie ?viele?|wie)\b", re.IGNORECASE)
ASKS_HOW = re.compile(r"\b(?:how|wie)\b", re.IGNORECASE)
MEANS = Phrase(r"(?:with|via|by|through|per|mit|über|durch)(?: [^\s,]+){1,4}")
ASKS_WHO = re.compile(r"\b(?:who|whom|whose|wer|wem|wen)\b", re.IGNORECASE)
NAMED = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Frau|Herr)\.?\s+)?[A-ZÄÖÜ][^\W\d_]")
ASTERISK = re.compile(r"\*[^\s*][^*]*+$")
"""`*room 5`: the way people correct a typing error."""

OFFERS_MORE = re.compile(
    r"anything else|let me know|further questions|(?:want|need) (?:me|more|help)|shall i|should i"
    r"|would you like|do you (?:want|need)"
    r"|sonst noch|soll ich|möchtest du|willst du|sag (?:mir )?bescheid|weitere fragen",
    re.IGNORECASE,
)
"""Occurs in an answer that offers more, so that a bare "no" may decline the offer."""
TRAILING = re.compile(
    r"(?P<emoji>(?<!\w):[\w+-]++:)?"
    r"(?:\s*+(?:[,.!;\-–—…]++|\b(?:sorry|thanks|thank you|thx|danke|lol|haha|mate|man|bot)\b"
    r"|[^\w\s`'\"’”“)\]}>%€$°*/+#&=?,.!;…–—\-]++))*+\s*+$"
)
"""Punctuation, emoji and politeness at the end, and before it the name of an emoji, as Slack writes it."""
YES_OR_NO = Phrase(
    r"is|are|was|were|can|could|do|does|did|may|will|has|have|should|must|ist|sind|kann|können|darf|gibt|hat"
    r"|haben|muss|wird"
)


LONGEST = 600
"""Characters. A longer message is never read as feedback."""
_HINTS = Phrase(
    r"no+|nope|nah+|nein|nee*|nö+|non|not|n't|\w+n't|cannot|wrong|incorrect|false|outdated|actually|almost"
    r"|correct(?:ion)?"
    r"|should|bs|mixed|messed|mistaken?|nonsense|rubbish|bullshit|inaccurate|untrue|useless|unhelpful|bad|same|still"
    r"|now|i think|i believe|i guess|i heard|sure|afaik|off|was there|were there|doubt|(?:great|big|good|huge"
    r"|real) help|made|tried|a lie|out of date|invented|hallucinat\w+|glaube|denke|changed|renamed|pushed"
    r"|shifted|postponed|rescheduled|(?:yes+|yep|yeah|yup)\W+that's|faux|falsch\w*|nicht|kein\w*|sondern"
    r"|eigentlich|doch|veraltet|quatsch|unsinn|richtig\w*"
    r"|korrekt\w*|stimmt|inzwischen|worked|works|working|saved|help(?:ed|s|ful)|solved|fixed|exactly|right|true|found"
    r"|(?:that|this|it) did it|trick|spot on|geklappt|funktioniert|geholfen|gefunden|genau|lösung"
)
_QUESTION = (
    r"[@><]|(?:who|what|when|where|which|why|how|can|could|would|will|do|does|please|show|tell|give|find|list"
    r"|wer|was|wann|wo|wie|warum|kann\w*|gibt)\b"
)
MAY_BE_FEEDBACK = re.compile(
    rf"\s*+(?!{_QUESTION})"
    rf"(?=(?:[^?\n]{{1,60}}\?\s)?[^?]{{1,{LONGEST}}}\Z)(?:[*👎👍]|:[+-]1|:thumbs|[^?\n]{{1,60}}\?\s+(?:no|it|that|es|das)\b|.{{0,80}}?(?:{_HINTS.pattern}|{GONE.pattern}))",
    re.IGNORECASE | re.DOTALL,
)
"""Matches what may be feedback and is no question; only such messages are read further."""

MAY_CONTRADICT = re.compile(
    rf"\s*+(?!{_QUESTION})(?=[^?]{{1,{LONGEST}}}\Z)(?:{IT_IS.pattern}|(?:{STATES.pattern}).*?(?:{CLAUSE_END.pattern}))",
    re.IGNORECASE | re.DOTALL,
)
"""Matches what may contradict an answer without a word of refusal: "it is room 5", or a long statement."""

NO_STATEMENT = re.compile(
    rf"{_QUESTION}|(?:and|or|also|then|that|this|these|those|yes|no|ok|hi|hello|hey|if|for|now|only|since|after|before"
    r"|until|whose|whom|let|remember|remind|note|explain|compare|translate|summari[sz]e|calculate|compute|convert|define"
    r"|describe|repeat|need|want|und|oder|das|dies\w*|hallo|wenn|falls|jetzt|ab|seit|nur|merk\w*|rechne\w*|erinner\w*"
    r"|erklär\w*|zeig\w*|sag\w*)\b",
    re.IGNORECASE,
)
"""Begins a question, a request, or a message that goes on with something said before."""
SPEAKER = re.compile(r"(?i)\b(?:i|me|my|mine|you\w*|please|ich|mir|mich|mein\w*|du|dir|dich|dein\w*|bitte)\b")
"""Occurs in what people say of themselves, or to the bot."""
MAY_ANSWER = re.compile(
    rf"\s*+(?!{NO_STATEMENT.pattern})(?=[^?]{{1,{LONGEST}}}\Z)(?:{STARTED.pattern}|{STATES.pattern})",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a statement that may be the answer to a question that the bot could not answer."""
ASKS_WHAT_IS = Phrase(r"(?:what|which|was|welche\w*)(?:'s|(?: \w+)? (?:is|are|ist|sind))")


def begins_statement(text: str) -> bool:
    """Whether a text begins like a sentence that states something, or tells what to do."""
    if (STARTED.match(text) and len(text.split(maxsplit=2)) > 1) or STATES.match(text):
        return True
    return tells_what_to_do(text)


def tells_what_to_do(text: str) -> bool:
    """Whether a text begins with an imperative that has an object: "use the form", but not "use is low"."""
    instruction = INSTRUCTION.match(text)
    return instruction is not None and DEFINITE.match(instruction["next"]) is not None


def first_clause(text: str) -> tuple[str, str]:
    """Split a text into its first clause and the rest, without the words that join both."""
    end = CLAUSE_END.search(text)
    if end is None:
        return text, ""
    at = end.end()
    while found := SEPARATOR.match(text, at) or FILLER.match(text, at):
        at = found.end()
    return text[: end.start()], text[at:]
