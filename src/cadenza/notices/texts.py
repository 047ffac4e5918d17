"""Every sentence of our emails, to be read in one sitting.

`write` (notices to members) and `account_emails` (password, invitation) fill them in. Values come in plain; whoever
fills them into HTML escapes the result.
"""

SETTINGS = "Choose which emails you get: {settings}"
MORE = "and {count} more"

# Subjects of notices; the workspace's name stands in front: [Bakery] Sending is on hold
RECONNECT = "{account} needs to be reconnected"
RECONNECT_REMINDER = "{account} still needs to be reconnected"
EXPIRING = "Reconnect {account} by {time}"
SUSPENDED = "{account} is suspended"
LIMITED = "{account} is limited by its network"
HELD = "Sending is on hold"
CAMPAIGN_PAUSED = "{campaign} is paused"
CAMPAIGN_COMPLETED = "{campaign} is completed: {sent} of {total} sent"
QUEUE_DRY = "The queue of {account} is running out of posts"
NOT_PUBLISHED = "{post} couldn't be published on {channels}"
UNCONFIRMED = "Check {post} on {channels}"
AT_RISK = "{post} may not go out on {channels}"
UNAPPROVED = "{post} needs approval before it can go out on {channels}"
PUBLISHED = "Published"
PUBLISHED_MANY = "{count} posts were published"
MIXED = "{count} updates"

# What a notice lists, a line each; a link follows.
LINE_RECONNECT = "{reason}. Reconnect it: "
LINE_RECONNECT_ONE = (
    "{reason}. 1 post is waiting and won't get lost: nothing is sent until you reconnect it. "
    "If its time has passed by then, you choose what happens to it. Reconnect it: "
)
LINE_RECONNECT_MANY = (
    "{reason}. {count} posts are waiting and won't get lost: nothing is sent until you reconnect it. "
    "Then you choose what happens to those whose time has passed. Reconnect it: "
)
LINE_EXPIRING = (
    "Its access expires on {time}, and only you can renew it with the network. "
    "Posts due after that wait until you reconnect it. Reconnect it: "
)
LINE_SUSPENDED = "{reason}. Nothing is sent from it until an admin lifts the suspension: "
LINE_LIMITED = "{reason}. It rests until then; nothing is moved to another account: "
LINE_CAMPAIGN_PAUSED = "{reason}. Nothing more leaves until it is resumed: "
LINE_CAMPAIGN_RESUMES = "{reason}. It goes on by itself at {time}: "
LINE_CAMPAIGN_COMPLETED = (
    "{sent} sent, {failed} failed, {skipped} skipped, {unconfirmed} unconfirmed. The report: "
)
LINE_HELD = (
    "{reason}. Nothing is sent until someone who runs this server checks and confirms, "
    "on the System screen or with `cadenza db confirm`: "
)
LINE_QUEUE_LAST = "Its last post goes out {time}. Add more: "
LINE_QUEUE_EMPTY = "It's empty. Add some posts: "
LINE_DELIVERY = "{post} on {channel} from {account}: {state} "
LINE_DELIVERY_REASON = "{post} on {channel} from {account}: {state}: {reason} "
NO_TEXT = "A post"

# Emails to one person.
RESET_SUBJECT = "Reset your Cadenza password"
RESET = "Someone, hopefully you, asked to reset your password. Choose a new one within an hour:"
RESET_END = "If it wasn't you, ignore this email. Your password stays the same."
INVITE_SUBJECT = "You're invited to {workspace} on Cadenza"
INVITE = "You're invited to work in {workspace} on Cadenza. Join within a week:"
INVITE_END = "If you weren't expecting this, ignore this email."
NO_NAME = "a workspace"
