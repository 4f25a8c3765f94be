"""Patterns that tell a statement, which may be right instead of an answer, from politeness, requests and questions."""

import re

from bot.conversation.feedback.phrases import I_AM, Phrase

_NOT = "(?:do|does|did|is|are|was|were|ca|could|wo|would|should|has|have|had|ai)n['’]?t"
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
    rf"(?:(?:and|but|because|cause|as|since|weil|und|aber|da) )*+(?:{I_AM}|i(?:'ve|'d|'ll)?|my|me|mine|ich|mir|mich"
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
FIRST_PERSON = Phrase(rf"i|{I_AM}|i've|i'd|i'll|me|my|mine|ich|mir|mich|mein\w*|please|bitte")
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
BARE_PLACE = re.compile(
    r"(?:(?:over|down|up|right|still|just|direkt|gleich)\s+)?+(?:(?:in|on|at|under|behind|next to|beside|above|below"
    r"|near|inside|outside|between|opposite)\s+(?:(?:the|an?|our|room)\b|\S*\d)|(?:im|beim)\s+\S"
    r"|(?:in|an|auf|unter|hinter|neben|über|vor)\s+(?:de[mrn]|eine[mr]|unser\w*)\b|(?:at\s+)?(?:noon|midnight)\b"
    r"|on\s+\w+days?\b|(?:up|down)stairs\b)",
    re.IGNORECASE,
)
"""A place or time that may stand alone as an answer: "in the attic", but not "in winter"."""
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
IT_IS = re.compile(r"(?:(?:it|that)(?:['’]?s|\s+is)|es\s+ist)\s", re.IGNORECASE)
YES_OR_NO = Phrase(
    r"is|are|was|were|can|could|do|does|did|may|will|has|have|should|must|ist|sind|kann|können|darf|gibt|hat"
    r"|haben|muss|wird"
)
SPEAKER = re.compile(r"(?i)\b(?:i|me|my|mine|you\w*|please|ich|mir|mich|mein\w*|du|dir|dich|dein\w*|bitte)\b")
"""Occurs in what people say of themselves, or to the bot."""
MINE = re.compile(r"\b(?:my|mein(?:e[mnrs]?)?)\s++(?P<what>\w++)", re.IGNORECASE)
"""Names something of whoever speaks."""
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
