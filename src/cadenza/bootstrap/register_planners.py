"""Lets planners take part in the pipeline: the only place that knows them all."""

from cadenza.campaigns.count import CampaignPlanner
from cadenza.campaigns.forget import forget_person
from cadenza.campaigns.guard import on_inbound as count_bounce
from cadenza.campaigns.split import on_inbound as count_answers
from cadenza.deliveries import contents, planners
from cadenza.inbox import listeners
from cadenza.inbox.person import register_erasure
from cadenza.outreach import forget
from cadenza.outreach.count import SequencePlanner
from cadenza.outreach.listen import on_inbound
from cadenza.outreach.model import PLANNER
from cadenza.templates.fill_in import fill_in


def register_planners() -> None:
    """Register who renders content by reference, and who counts and plans deliveries; once a process is enough."""
    contents.register(fill_in)
    planners.register(PLANNER, SequencePlanner())
    planners.register("campaign", CampaignPlanner())
    listeners.register(on_inbound)
    listeners.register(count_bounce)
    listeners.register(count_answers)
    register_erasure(forget_person)
    register_erasure(forget.forget_person)
