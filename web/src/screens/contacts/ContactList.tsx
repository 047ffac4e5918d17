import { Badge, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue, useDisclosure } from "@mantine/hooks";
import { IconAddressBook, IconPlus, IconSearch, IconUpload } from "@tabler/icons-react";
import { Link } from "react-router";

import { useAudiences } from "../../api/audiences";
import { api, take } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { LongList } from "../../ui/LongList";
import { usePages } from "../../ui/Paged";
import { useSearchWords } from "../../ui/useSearchWords";
import { channelName } from "../../ui/words";
import { ContactForm } from "./ContactForm";
import { consentName, consents, CONTACTS, nameOf, useCount, type Condition, type Contact } from "./useContacts";
import { t } from "../../messages/contacts";

const PAGE = 200;
const addressKinds = ["email", "linkedin", "telegram"];

export function ContactList() {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const [words, set] = useSearchWords();
  const [adding, { open, close }] = useDisclosure();
  const audiences = useAudiences();
  const read = (name: string) => words.get(name) ?? undefined;
  const consent = consents.find(({ value }) => value === words.get("consent"))?.value;
  const [search] = useDebouncedValue(read("search"), 250);
  const [tag] = useDebouncedValue(read("tag"), 250);
  const filter = { search, tag, consent, channel: read("channel"), audience_id: read("audience") };
  const filtered = Object.values(filter).some((value) => value !== undefined);
  const contacts = usePages<Contact, string>([workspace_id, "contacts", filter], (cursor) =>
    take(api.GET(CONTACTS, { params: { path: { workspace_id }, query: { ...filter, cursor, limit: PAGE } } })),
  );
  return (
    <Stack>
      <Group gap="xs" align="flex-end">
        <TextInput
          aria-label={t("search")}
          placeholder={t("searchNamesCompaniesAddresses")}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={words.get("search") ?? ""}
          onChange={(event) => set("search", event.currentTarget.value)}
          style={{ flex: 1, minWidth: 160 }}
        />
        <TextInput aria-label={t("tag")} placeholder={t("anyTag")} w={100} value={words.get("tag") ?? ""} onChange={(event) => set("tag", event.currentTarget.value)} />
        <Select aria-label={t("consent")} placeholder={t("anyConsent")} clearable w={130} data={[...consents]} value={consent ?? null} onChange={(value) => set("consent", value)} />
        <Select aria-label={t("reachableBy")} placeholder={t("anyChannel")} clearable w={130} data={addressKinds.map((value) => ({ value, label: channelName(value) }))} value={words.get("channel")} onChange={(value) => set("channel", value)} />
        <Select aria-label={t("audience")} placeholder={t("anyAudience")} clearable searchable w={140} data={(audiences.data ?? []).map(({ id, name }) => ({ value: id, label: name }))} value={words.get("audience")} onChange={(value) => set("audience", value)} />
        {editor && (
          <>
            <Button variant="default" component={Link} to={`/w/${workspace_id}/contacts/import`} leftSection={<IconUpload size={16} aria-hidden />}>
              {t("import")}
            </Button>
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
              {t("newContact")}
            </Button>
          </>
        )}
      </Group>
      <HowMany filter={filter} />
      <LongList
        pages={contacts}
        label={t("contacts")}
        keyOf={({ id }) => id}
        empty={
          filtered ? (
            <Text c="dimmed">{t("nobodyMatches")}</Text>
          ) : (
            <Empty icon={IconAddressBook} title={t("noContactsYet")}>
              {t("addOneOrImport")}
            </Empty>
          )
        }
      >
        {(contact) => <ContactRow contact={contact} />}
      </LongList>
      {adding && <ContactForm contact={null} onClose={close} />}
    </Stack>
  );
}

/** Counted apart from the list, which need not wait for it. */
function HowMany({ filter: { audience_id, ...rest } }: { filter: { search?: string; tag?: string; consent?: string; channel?: string; audience_id?: string } }) {
  const said: Record<string, string | undefined> = { ...rest, audience: audience_id };
  const found = useCount(Object.entries(said).flatMap(([what, value]): Condition[] => (value === undefined ? [] : [{ what, op: "is", value }])));
  if (found.data === undefined || found.data.count === 0) return null;
  return (
    <Text size="sm" c="dimmed" role="status">
      {t("people", { count: found.data.count })}
    </Text>
  );
}

function ContactRow({ contact }: { contact: Contact }) {
  const workspace_id = useWorkspaceId();
  const addresses = contact.addresses.map(({ written }) => written);
  return (
    <Group h="100%" wrap="nowrap" justify="space-between" gap="sm">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" truncate>
          <Link to={`/w/${workspace_id}/contacts/person/${contact.id}`}>{nameOf(contact)}</Link>
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {[contact.company, ...addresses].filter((part) => part !== "").join(" · ")}
        </Text>
      </div>
      <Group gap={4} wrap="nowrap" style={{ flex: "none" }}>
        {contact.tags.slice(0, 2).map((each) => (
          <Badge key={each} variant="outline" color="gray" visibleFrom="sm">
            {each}
          </Badge>
        ))}
        {contact.consent !== "unknown" && (
          <Badge variant="outline" color={contact.consent === "refused" ? "red" : "teal"}>
            {consentName(contact.consent)}
          </Badge>
        )}
      </Group>
    </Group>
  );
}
