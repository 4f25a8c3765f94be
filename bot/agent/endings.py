"""How a node ends that reached no goal: what it hands up, or tells the person."""

from bot.agent.control import Outcome, Stop
from bot.agent.record import Trace
from bot.errors import MalformedReply, ModelError, ModelRefused, ModelUnavailable
from memory.model import Termination


def failed(reason: str, known: str) -> Outcome:
    """It could not be reached, for this reason; `known` is what was found all the same."""
    return Outcome(termination=Termination.FAILURE, output=f"{known}\n\n{reason}" if known else reason)


def stopped(trace: Trace, stop: Stop) -> Outcome:
    """Aborted. The root tells the person why, once; the others hand up what they found."""
    found = trace.found
    if trace.task.parent_id:
        return Outcome(termination=Termination.ABORTED, output=found, stop=stop)
    rest = f"\n\nThis is what I found so far:\n\n{found}" if found else " I had found nothing by then."
    return Outcome(termination=Termination.ABORTED, output=f"I had to stop: {stop.reason}.{rest}", stop=stop)


def after_model_error(trace: Trace, fault: ModelError) -> Outcome:
    """What the model's error makes of the node."""
    match fault:
        case ModelRefused():
            return failed("The language model declined to go on with this.", trace.found)
        case MalformedReply():
            return failed("The language model gave a reply that makes no sense.", trace.found)
        case ModelUnavailable():
            return stopped(trace, Stop(reason="the language model cannot be reached at the moment"))
        case _:
            return stopped(trace, Stop(reason="the language model does not accept my requests"))
