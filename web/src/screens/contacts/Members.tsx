// Who is on a list: contacts and channels, in their order; people are added by searching for them.
import { ActionIcon, Group, Select, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { useAct } from "../../api/act";
import type { Audience } from "../../api/audiences";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { LongList } from "../../ui/LongList";
import { usePages } from "../../ui/Paged";
import { CONTACTS, nameOf, useContact } from "./useContacts";
import { t } from "../../messages/contacts";

type Member = Schemas["MemberView"];
const AUDIENCE = "/api/v1/workspaces/{workspace_id}/audiences/{audience_id}";

export function Members({ audience }: { audience: Audience }) {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const params = { path: { workspace_id, audience_id: audience.id } };
  const members = usePages<Member, string>([workspace_id, "audience-members", audience.id], (cursor) => take(api.GET(`${AUDIENCE}/members`, { params: { ...params, query: { cursor, limit: 200 } } })));
  const add = useAct("audience", (id: string) => take(api.POST(`${AUDIENCE}/members`, { params, body: { contact_ids: [id], channels: [] } })), { done: ({ changed }) => (changed === 0 ? t("wasThereAlready") : t("wasAdded")) });
  const remove = useAct("audience", (member: Member) => take(api.POST(`${AUDIENCE}/remove-members`, { params, body: bodyOf(member) })), {
    done: () => t("wasRemoved"),
    undo: (_, member) => () => restore.mutate(member),
  });
  const restore = useAct("audience", (member: Member) => take(api.POST(`${AUDIENCE}/members`, { params, body: bodyOf(member) })));
  return (
    <Stack gap="xs" mt="sm">
      {editor && <ContactChoice label={t("addSomebody")} onChoose={(id) => add.mutate(id)} />}
      <LongList
        pages={members}
        label={t("membersOfName", { name: audience.name })}
        rowHeight={44}
        keyOf={({ kind, provider, id }) => `${kind} ${provider} ${id}`}
        empty={
          <Text size="sm" c="dimmed">
            {t("nobodyIsOnIt")}
          </Text>
        }
      >
        {(member) => (
          <Group h="100%" wrap="nowrap" justify="space-between">
            <MemberName member={member} />
            {editor && (
              <ActionIcon variant="subtle" color="gray" aria-label={t("removeFromList")} onClick={() => remove.mutate(member)}>
                <IconX size={16} />
              </ActionIcon>
            )}
          </Group>
        )}
      </LongList>
    </Stack>
  );
}

const bodyOf = ({ kind, provider, id }: Member) => (kind === "contact" ? { contact_ids: [id], channels: [] } : { contact_ids: [], channels: [{ provider, address: id }] });

function MemberName({ member }: { member: Member }) {
  if (member.kind === "channel") return <Text size="sm">{member.id}</Text>;
  return <ContactName id={member.id} />;
}

/** A person by their id; rows out of sight ask for nothing. */
export function ContactName({ id }: { id: string }) {
  const workspaceId = useWorkspaceId();
  const contact = useContact(id);
  return (
    <Text size="sm" truncate>
      <Link to={`/w/${workspaceId}/contacts/person/${id}`}>{contact.data === undefined ? "…" : nameOf(contact.data)}</Link>
    </Text>
  );
}

/** Find somebody by how their name, company or address begins. */
export function ContactChoice({ label, value = null, onChoose }: { label: string; value?: string | null; onChoose: (id: string) => void }) {
  const workspace_id = useWorkspaceId();
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, 250);
  const found = useQuery({
    queryKey: [workspace_id, "contacts", "choice", search],
    queryFn: () => take(api.GET(CONTACTS, { params: { path: { workspace_id }, query: { search: search === "" ? undefined : search, limit: 20 } } })),
  });
  return (
    <Select
      aria-label={label}
      placeholder={label}
      searchable
      maw={360}
      nothingFoundMessage={t("nobodyMatches")}
      filter={({ options }) => options}
      data={(found.data?.items ?? []).map((each) => ({ value: each.id, label: [nameOf(each), each.addresses[0]?.written].filter((part) => part !== undefined && part !== "").join(" · ") }))}
      searchValue={typed}
      onSearchChange={setTyped}
      value={value}
      onChange={(id) => id !== null && onChoose(id)}
    />
  );
}
