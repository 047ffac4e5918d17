"""The shapes of templates over HTTP: content as its author writes it, versions, previews and findings."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.schemas import Answer, IdField, InputModel, Line
from cadenza.core.channels import Channel
from cadenza.templates.model import (
    KINDS,
    BodyFormat,
    Template,
    TemplateContent,
    TemplateMedia,
    TemplateVariant,
    TemplateVersion,
)

ChannelName = Literal[
    "email",
    "telegram",
    "linkedin_message",
    "linkedin_invitation",
    "linkedin_inmail",
    "slack",
    "discord",
    "webhook",
]
Text = Annotated[str, StringConstraints(max_length=200_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^\w+$")]
Value = str | int | float | bool | None
Values = Annotated[dict[Name, Value], Field(max_length=500)]
HELLO: dict[str, Any] = {
    "name": "Welcome",
    "subject": 'Welcome, {{first_name | default: "friend"}}',
    "format": "markdown",
    "body": "Hello {{first_name}},\n\nyour order **{{order}}** is on its way.",
}


class TemplateMediaFields(InputModel):
    """A file of the library that goes along."""

    media_id: IdField
    alt: Annotated[str, StringConstraints(max_length=2_000)] | None = None


class TemplateVariantFields(InputModel):
    """What one channel gets instead; what is left out is the same as everywhere."""

    subject: Annotated[str, StringConstraints(max_length=998)] | None = None
    text: Text | None = None
    media: list[TemplateMediaFields] | None = Field(default=None, max_length=10)
    options: dict[Name, str | bool | int] = Field(default={}, max_length=20)


class TemplateFields(InputModel):
    """A template's content."""

    body: Text
    subject: Annotated[str, StringConstraints(max_length=998)] = ""
    format: BodyFormat = BodyFormat.TEXT
    css: Annotated[str, StringConstraints(max_length=50_000)] = Field(
        default="", description="Styles for pasted HTML; written into its tags"
    )
    text: Text | None = Field(
        default=None, description="A mail's plain text, instead of the one made from the body"
    )
    media: list[TemplateMediaFields] = Field(default=[], max_length=10)
    variants: dict[ChannelName, TemplateVariantFields] = Field(default={})

    def content(self) -> TemplateContent:
        """Return it as operations take it."""
        return TemplateContent(
            body=self.body,
            subject=self.subject,
            format=self.format,
            css=self.css,
            text=self.text,
            media=_media(self.media),
            variants={
                Channel(name): TemplateVariant(
                    subject=each.subject,
                    text=each.text,
                    media=None if each.media is None else _media(each.media),
                    options=dict(each.options),
                )
                for name, each in self.variants.items()
            },
        )


class TemplateInput(TemplateFields):
    """A new template."""

    model_config = ConfigDict(json_schema_extra={"examples": [HELLO]})
    name: Line


class TemplateChange(TemplateFields):
    """The next version of a template."""

    model_config = ConfigDict(json_schema_extra={"examples": [HELLO]})
    name: Line | None = None
    version: int | None = Field(default=None, strict=True, ge=1, description="What you saw")


class TemplateVariableView(BaseModel):
    """A variable; one that is not required has a default or stands in a condition."""

    name: str
    required: bool


class TemplateMediaView(BaseModel):
    """A file that goes along."""

    media_id: str
    alt: str | None


class TemplateVariantView(BaseModel):
    """What one channel gets instead."""

    subject: str | None
    text: str | None
    media: list[TemplateMediaView] | None
    options: dict[str, Any]


class TemplateContentView(BaseModel):
    """A template's content as its author wrote it."""

    body: str
    subject: str
    format: BodyFormat
    css: str
    text: str | None
    media: list[TemplateMediaView]
    variants: dict[str, TemplateVariantView]


class TemplateVersionView(BaseModel):
    """A frozen version."""

    id: str = Field(description="Never changes; planners refer to it")
    number: int
    content: TemplateContentView
    variables: list[TemplateVariableView]
    removed: list[str] = Field(description="What was taken out of pasted HTML")
    saved_by: str
    saved_at: datetime


class TemplateView(Answer):
    """A template with its newest version."""

    id: str
    name: str
    created_at: datetime
    updated_at: datetime
    version: TemplateVersionView


class TemplateDeleted(Answer):
    """It is gone from lists; what was planned with it is still sent."""

    id: str


class PreviewInput(InputModel):
    """Values to render with; without any, examples are made up."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"variables": {"first_name": "Ben", "order": "A-7"}}]}
    )
    contact_id: IdField | None = Field(
        default=None, description="Whose fields are variables; given values win"
    )
    variables: Values | None = None
    channel: ChannelName = "email"
    version: int | None = Field(default=None, strict=True, ge=1)


class UnsavedPreviewInput(TemplateFields):
    """Content that is not saved, and values to render it with."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"body": "Hello {{first_name}}", "variables": {"first_name": "Ben"}}]
        }
    )
    contact_id: IdField | None = Field(
        default=None, description="Whose fields are variables; given values win"
    )
    variables: Values | None = None
    channel: ChannelName = "email"


class PreviewMediaView(BaseModel):
    """A file as it goes along."""

    media_id: str
    name: str
    kind: str = Field(description="PHOTO, VIDEO or DOCUMENT")


class TemplatePreviewView(BaseModel):
    """A message as its recipient would get it, or what is missing for that."""

    channel: str
    complete: bool
    subject: str = ""
    text: str = ""
    html: str | None = None
    media: list[PreviewMediaView] = []
    missing: list[str] = []
    unfit: dict[str, str] = {}
    variables: list[TemplateVariableView]
    removed: list[str] = []


class RecipientInput(InputModel):
    """Somebody, and their values."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=254)]
    variables: Values


class TemplateCheckInput(InputModel):
    """What to check a template with; all of it may be left out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"recipients": [{"id": "ben", "variables": {"first_name": "Ben"}}]}]
        }
    )
    channel: ChannelName = "email"
    version: int | None = Field(default=None, strict=True, ge=1)
    account_id: IdField | None = Field(default=None, description="Whose network is asked")
    known: list[Name] | None = Field(
        default=None, max_length=500, description="The variables that will be filled in"
    )
    recipients: list[RecipientInput] = Field(default=[], max_length=1_000)
    try_links: bool = Field(default=False, strict=True, description="Ask whether links answer")


class TemplateFindingView(BaseModel):
    """Something to know before it goes out."""

    code: str
    message: str
    field: str
    blocking: bool


class IncompleteView(BaseModel):
    """A recipient for whom it cannot be rendered."""

    id: str
    missing: list[str]
    unfit: dict[str, str]


class TemplateCheckView(BaseModel):
    """All there is to say of a template."""

    ready: bool = Field(description="Nothing keeps it from going out, to every recipient given")
    findings: list[TemplateFindingView]
    checked: int
    incomplete: int = Field(description="Recipients whom a missing value would hit")
    listed: list[IncompleteView] = Field(description="The first of them")
    by_name: dict[str, int] = Field(description="How many each variable hits")


def _media(fields: list[TemplateMediaFields]) -> tuple[TemplateMedia, ...]:
    return tuple(TemplateMedia(media_id=each.media_id, alt=each.alt) for each in fields)


def version_view(version: TemplateVersion) -> TemplateVersionView:
    """Show a version; its compiled form is nobody's business."""
    content = version.content
    return TemplateVersionView(
        id=version.id,
        number=version.number,
        content=TemplateContentView(
            body=content.body,
            subject=content.subject,
            format=content.format,
            css=content.css,
            text=content.text,
            media=_shown(content.media),
            variants={
                channel.value: TemplateVariantView(
                    subject=each.subject,
                    text=each.text,
                    media=None if each.media is None else _shown(each.media),
                    options=each.options,
                )
                for channel, each in content.variants.items()
            },
        ),
        variables=variables_view(version),
        removed=list(version.removed),
        saved_by=version.saved_by,
        saved_at=version.saved_at,
    )


def variables_view(version: TemplateVersion) -> list[TemplateVariableView]:
    """Show what a version needs."""
    return [TemplateVariableView(name=v.name, required=v.required) for v in version.variables]


def template_view(template: Template) -> TemplateView:
    """Show a template with its newest version."""
    return TemplateView(
        id=template.id,
        name=template.name,
        created_at=template.created_at,
        updated_at=template.updated_at,
        version=version_view(template.version),
    )


def file_view(entry: Any) -> PreviewMediaView:
    """Show a file of a rendered message."""
    return PreviewMediaView(
        media_id=entry["id"], name=entry["name"], kind=KINDS.get(entry["kind"], "DOCUMENT")
    )


def _shown(media: tuple[TemplateMedia, ...]) -> list[TemplateMediaView]:
    return [TemplateMediaView(media_id=each.media_id, alt=each.alt) for each in media]
