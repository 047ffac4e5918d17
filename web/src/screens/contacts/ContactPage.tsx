// One person: what is known, and everything that was written both ways, over all channels.
import { Alert, Anchor, Badge, Button, Group, Menu, SimpleGrid, Stack, Text, Textarea, Timeline } from "@mantine/core";
import { IconArrowDownLeft, IconArrowUpRight, IconBan, IconDots } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useNavigate } from "react-router";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { Page } from "../../ui/Page";
import { Section } from "../../ui/Section";
import { StateBadge } from "../../ui/StateBadge";
import { ago, fromNow, momentThere } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { channelName } from "../../ui/words";
import { ContactForm } from "./ContactForm";
import { historyOf, type Happened } from "./history";
import { inboundWord } from "./inbound";
import { consentName, CONTACT, nameOf, useContact, useFields, type Contact } from "./useContacts";
import { t } from "../../messages/contacts";

export function ContactPage({ id }: { id: string }) {
  return <Fetched query={useContact(id)}>{(contact) => <Person contact={contact} />}</Fetched>;
}

function Person({ contact }: { contact: Contact }) {
  const workspaceId = useWorkspaceId();
  const admin = useMay("admin");
  return (
    <Page
      title={nameOf(contact)}
      message={
        <Anchor component={Link} to={`/w/${workspaceId}/contacts/list`} size="sm">
          {t("allContacts")}
        </Anchor>
      }
      actions={<Acts contact={contact} />}
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} style={{ alignItems: "start" }}>
        <Stack>
          <About contact={contact} />
          <Notes contact={contact} />
        </Stack>
        {admin ? <History contact={contact} /> : <Section title={t("history")} message={t("onlyAdminsSeeTheHistory")} />}
      </SimpleGrid>
    </Page>
  );
}

function About({ contact }: { contact: Contact }) {
  const { zone } = useMe();
  const fields = useFields();
  const label = (key: string) => fields.data?.find((each) => each.key === key)?.label ?? key;
  const rows: [string, ReactNode][] = [
    ...contact.addresses.map(({ channel, written, flag }): [string, ReactNode] => [
      channelName(channel),
      <Group key={written} gap={6}>
        <span style={{ overflowWrap: "anywhere" }}>{written}</span>
        {flag !== null && (
          <Badge variant="outline" color="orange">
            {flag === "role" ? t("roleAddress") : t("disposableAddress")}
          </Badge>
        )}
      </Group>,
    ]),
    [t("company"), contact.company],
    [t("country"), contact.country],
    [t("timeZone"), contact.zone === null ? null : contact.zone_guessed ? t("zoneGuessed", { zone: contact.zone }) : contact.zone],
    [t("consent"), contact.consent_at === null ? consentName(contact.consent) : t("consentSince", { consent: consentName(contact.consent), time: momentThere(contact.consent_at, zone), proof: contact.consent_proof ?? t("noProof") })],
    [t("source"), contact.source],
    ...Object.entries(contact.fields).map(([key, value]): [string, ReactNode] => [label(key), String(value)]),
    [t("tags"), contact.tags.length === 0 ? null : contact.tags.join(", ")],
  ];
  return (
    <Section title={t("about")}>
      <Stack gap={4} component="dl" m={0}>
        {rows
          .filter(([, value]) => value !== null && value !== "")
          .map(([name, value], at) => (
            <Group key={at} gap="xs" align="flex-start" wrap="nowrap">
              <Text component="dt" size="sm" c="dimmed" w={110} style={{ flex: "none" }}>
                {name}
              </Text>
              <Text component="dd" size="sm" m={0} style={{ minWidth: 0, overflowWrap: "anywhere" }}>
                {value}
              </Text>
            </Group>
          ))}
      </Stack>
    </Section>
  );
}

function History({ contact }: { contact: Contact }) {
  const workspace_id = useWorkspaceId();
  const data = useQuery({
    queryKey: [workspace_id, "contact-history", contact.id],
    queryFn: () => take(api.GET(`${CONTACT}/data`, { params: { path: { workspace_id, contact_id: contact.id } } })),
  });
  return (
    <Section title={t("history")} message={t("everythingSentAndReceived")}>
      <Fetched query={data}>
        {(found) => {
          const { events, audiences, suppressions } = historyOf(found);
          return (
            <Stack>
              {suppressions.length > 0 && (
                <Alert color="red" icon={<IconBan aria-hidden />} title={t("isNotContacted")}>
                  {suppressions.map(({ channel, reason }) => `${channel === "all" ? t("everyChannel") : channelName(channel)}: ${t("suppressedBecause", { reason })}`).join(" ")}
                </Alert>
              )}
              {audiences.length > 0 && <Text size="sm">{t("inAudiences", { audiences: audiences.join(", ") })}</Text>}
              {events.length === 0 ? <Text size="sm">{t("nothingWasWrittenYet")}</Text> : <Events events={events} />}
            </Stack>
          );
        }}
      </Fetched>
    </Section>
  );
}

function Events({ events }: { events: readonly Happened[] }) {
  const workspaceId = useWorkspaceId();
  const now = useNow();
  const { zone } = useMe();
  return (
    <Timeline bulletSize={22} lineWidth={2} active={events.length}>
      {events.map((each) => (
        <Timeline.Item
          key={each.key}
          bullet={each.kind === "sent" ? <IconArrowUpRight size={14} aria-hidden /> : <IconArrowDownLeft size={14} aria-hidden />}
          title={
            <Group gap="xs">
              <Text size="sm" fw={600}>
                {each.kind === "sent" ? t("toThem", { channel: channelName(each.channel) }) : `${inboundWord(each.state)} · ${channelName(each.channel)}`}
              </Text>
              {each.kind === "sent" && <StateBadge state={each.state} />}
            </Group>
          }
        >
          {each.text !== "" && (
            <Text size="sm" lineClamp={4} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
              {each.text}
            </Text>
          )}
          <Text size="xs" c="dimmed">
            {momentThere(each.at, zone)} ({each.state === "scheduled" ? fromNow(each.at, now) : ago(each.at, now)}){" "}
            {each.kind === "sent" && (
              <Anchor component={Link} size="xs" underline="always" to={`/w/${workspaceId}/activity/${each.key}`}>
                {t("details")}
              </Anchor>
            )}
          </Text>
        </Timeline.Item>
      ))}
    </Timeline>
  );
}

function Notes({ contact }: { contact: Contact }) {
  const params = { path: { workspace_id: useWorkspaceId(), contact_id: contact.id } };
  const editor = useMay("editor");
  const { zone } = useMe();
  const [text, setText] = useState("");
  const notes = useQuery({
    queryKey: [params.path.workspace_id, "contact-notes", contact.id],
    queryFn: () => take(api.GET(`${CONTACT}/notes`, { params })),
  });
  const add = useAct("contact", () => take(api.POST(`${CONTACT}/notes`, { params, body: { text } })), { after: () => setText("") });
  return (
    <Section title={t("notes")}>
      {editor && (
        <Stack gap="xs">
          <Textarea aria-label={t("newNote")} placeholder={t("writeANote")} autosize minRows={2} maxLength={10_000} value={text} onChange={(event) => setText(event.currentTarget.value)} />
          <Button w="fit-content" size="compact-md" variant="default" disabled={text.trim() === ""} loading={add.isPending} onClick={() => add.mutate()}>
            {t("addNote")}
          </Button>
        </Stack>
      )}
      <Fetched query={notes} rows={1}>
        {(found) => (
          <Stack gap="xs">
            {found.map((note) => (
              <div key={note.id}>
                <Text size="sm" style={{ whiteSpace: "pre-wrap" }}>
                  {note.text}
                </Text>
                <Text size="xs" c="dimmed">
                  {momentThere(note.created_at, zone)}
                </Text>
              </div>
            ))}
          </Stack>
        )}
      </Fetched>
    </Section>
  );
}

function Acts({ contact }: { contact: Contact }) {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id, contact_id: contact.id } };
  const go = useNavigate();
  const [editor, admin] = [useMay("editor"), useMay("admin")];
  const [editing, setEditing] = useState(false);
  const away = () => void go(`/w/${workspace_id}/contacts/list`);
  const remove = useAct("contact", () => take(api.DELETE(CONTACT, { params })), { done: () => t("nameIsDeleted", { name: nameOf(contact) }), after: away });
  const erase = useAct("contact", () => take(api.POST(`${CONTACT}/erase`, { params })), {
    done: ({ deliveries, inbound }) => t("everythingIsErased", { messages: deliveries + inbound }),
    after: away,
  });
  const block = useAct(
    "suppression",
    async () => {
      for (const { channel, address } of contact.addresses) {
        const kind = channel === "email" ? ("address" as const) : ("handle" as const);
        await take(api.POST("/api/v1/workspaces/{workspace_id}/suppression", { params: { path: { workspace_id } }, body: { kind, value: address, channel: channel === "email" ? "all" : channel, reason: "manual", note: "" } }));
      }
    },
    { done: () => t("nameIsNotContacted", { name: nameOf(contact) }) },
  );
  const ask = async (title: string, message: string, yes: string, act: () => void) => {
    if (await askFirst({ title, message, yes, danger: true })) act();
  };
  if (!editor) return null;
  const name = nameOf(contact);
  return (
    <>
      <Button variant="default" onClick={() => setEditing(true)}>
        {t("edit")}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" px="xs" aria-label={t("more")}>
            <IconDots size={18} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {contact.addresses.length > 0 && (
            <Menu.Item onClick={() => void ask(t("stopContactingName", { name }), t("nothingGoesToThem"), t("stopContacting"), () => block.mutate())}>{t("stopContactingDots")}</Menu.Item>
          )}
          <Menu.Item color="red" onClick={() => void ask(t("deleteName", { name }), t("sentMessagesStay"), t("delete"), () => remove.mutate())}>
            {t("deleteDots")}
          </Menu.Item>
          {admin && (
            <Menu.Item color="red" onClick={() => void ask(t("eraseName", { name }), t("everythingAboutThemGoes"), t("erase"), () => erase.mutate())}>
              {t("eraseDots")}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {editing && <ContactForm contact={contact} onClose={() => setEditing(false)} />}
    </>
  );
}
