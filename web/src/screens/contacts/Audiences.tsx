import { ActionIcon, Badge, Button, Group, Modal, Paper, Select, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus, IconTrash, IconUsersGroup } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";

import { useAct } from "../../api/act";
import { useAudiences, type Audience } from "../../api/audiences";
import { api, take } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Members } from "./Members";
import { filterWords, opNames, subjectsWith, type Subject } from "./conditions";
import { useCount, useFields, type Condition } from "./useContacts";
import { useSearchWords } from "../../ui/useSearchWords";
import { t } from "../../messages/contacts";

const AUDIENCES = "/api/v1/workspaces/{workspace_id}/audiences";

export function Audiences() {
  const audiences = useAudiences();
  const editor = useMay("editor");
  const [editing, setEditing] = useState<Audience | "new" | null>(null);
  const [words, set] = useSearchWords();
  return (
    <Stack>
      {editor && (
        <Group justify="flex-end">
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEditing("new")}>
            {t("newAudience")}
          </Button>
        </Group>
      )}
      <Fetched query={audiences}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon={IconUsersGroup} title={t("noAudiencesYet")}>
              {t("anAudienceIsAList")}
            </Empty>
          ) : (
            <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
              {found.map((each) => (
                <li key={each.id}>
                  <AudienceCard audience={each} editor={editor} isOpen={words.get("audience") === each.id} onOpen={(open) => set("audience", open ? each.id : null)} onEdit={() => setEditing(each)} />
                </li>
              ))}
            </Stack>
          )
        }
      </Fetched>
      {editing !== null && <AudienceForm audience={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
    </Stack>
  );
}

function AudienceCard({ audience, editor, isOpen, onOpen, onEdit }: { audience: Audience; editor: boolean; isOpen: boolean; onOpen: (open: boolean) => void; onEdit: () => void }) {
  const workspace_id = useWorkspaceId();
  const all = subjectsWith(useFields().data ?? []);
  const remove = useAct("audience", () => take(api.DELETE(`${AUDIENCES}/{audience_id}`, { params: { path: { workspace_id, audience_id: audience.id } } })), { done: () => t("nameIsDeleted", { name: audience.name }) });
  const ask = async () => {
    if (await askFirst({ title: t("deleteName", { name: audience.name }), message: t("itsContactsStay"), yes: t("delete"), danger: true })) remove.mutate();
  };
  return (
    <Paper withBorder p="sm" component="section" aria-label={audience.name}>
      <Group justify="space-between" gap="xs">
        <div style={{ minWidth: 0 }}>
          <Group gap="xs">
            <Text fw={650}>{audience.name}</Text>
            <Badge variant="outline" color="gray">
              {audience.kind === "list" ? t("list") : t("savedFilter")}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed">
            {t("recipients", { size: audience.size })}
            {audience.kind === "filter" && ` · ${filterWords(audience.filter, all)}`}
          </Text>
        </div>
        <Group gap="xs">
          {audience.kind === "list" ? (
            <Button size="compact-sm" variant="default" aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
              {isOpen ? t("hideMembers") : t("showMembers")}
            </Button>
          ) : (
            <Button size="compact-sm" variant="default" component={Link} to={`/w/${workspace_id}/contacts/list?audience=${audience.id}`}>
              {t("showMembers")}
            </Button>
          )}
          {editor && (
            <>
              <Button size="compact-sm" variant="default" onClick={onEdit} aria-label={t("editName", { name: audience.name })}>
                {t("edit")}
              </Button>
              <ActionIcon variant="subtle" color="gray" aria-label={t("deleteAudience", { name: audience.name })} loading={remove.isPending} onClick={() => void ask()}>
                <IconTrash size={16} />
              </ActionIcon>
            </>
          )}
        </Group>
      </Group>
      {isOpen && <Members audience={audience} />}
    </Paper>
  );
}

function AudienceForm({ audience, onClose }: { audience: Audience | null; onClose: () => void }) {
  const workspace_id = useWorkspaceId();
  const fields = useFields();
  const [name, setName] = useState(audience?.name ?? "");
  const [kind, setKind] = useState<Audience["kind"]>(audience?.kind ?? "filter");
  const [filter, setFilter] = useState<Condition[]>(() => (audience?.filter ?? [{ what: "tag", op: "is", value: "" }]).map(({ what, op, value }) => ({ what, op: (op ?? "is") as Condition["op"], value })));
  const whole = filter.every(({ op, value }) => op === "set" || op === "not_set" || String(value ?? "").trim() !== "");
  const save = useAct(
    "audience",
    () => {
      const body = { name: name.trim(), filter: kind === "filter" ? filter : null };
      return audience === null
        ? take(api.POST(AUDIENCES, { params: { path: { workspace_id } }, body }))
        : take(api.PATCH(`${AUDIENCES}/{audience_id}`, { params: { path: { workspace_id, audience_id: audience.id } }, body }));
    },
    { done: (kept) => t("nameIsSaved", { name: kept.name }), after: onClose },
  );
  return (
    <Modal opened onClose={onClose} title={audience === null ? t("newAudience") : t("editName", { name: audience.name })} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <TextInput label={t("name")} required data-autofocus maxLength={200} value={name} onChange={(event) => setName(event.currentTarget.value)} />
          {audience === null && (
            <SegmentedControl
              aria-label={t("kind")}
              value={kind}
              data={[
                { value: "filter", label: t("savedFilter") },
                { value: "list", label: t("list") },
              ]}
              onChange={(value) => setKind(value as Audience["kind"])}
            />
          )}
          <Text size="sm" c="dimmed">
            {kind === "filter" ? t("aFilterFindsThem") : t("aListHoldsThem")}
          </Text>
          {kind === "filter" && <Conditions subjects={subjectsWith(fields.data ?? [])} filter={filter} onChange={setFilter} />}
          {kind === "filter" && whole && <Found filter={filter} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button type="submit" disabled={name.trim() === "" || (kind === "filter" && !whole)} loading={save.isPending}>
              {t("save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Everything that must hold, one line each. */
function Conditions({ subjects, filter, onChange }: { subjects: readonly Subject[]; filter: Condition[]; onChange: (filter: Condition[]) => void }) {
  const change = (index: number, part: Partial<Condition>) => onChange(filter.map((each, at) => (at === index ? { ...each, ...part } : each)));
  return (
    <Stack gap="xs" role="group" aria-label={t("allOfTheseHold")}>
      {filter.map((each, at) => {
        const ops = subjects.find(({ value }) => value === each.what)?.ops ?? ["is"];
        return (
          <Group key={at} gap="xs" align="flex-end">
            <Select aria-label={t("what")} w={160} allowDeselect={false} data={subjects.map(({ value, label }) => ({ value, label }))} value={each.what} onChange={(what) => change(at, { what: what ?? "tag", op: "is", value: "" })} />
            <Select aria-label={t("comparison")} w={130} allowDeselect={false} data={ops.map((value) => ({ value, label: opNames[value] }))} value={each.op ?? "is"} onChange={(op) => change(at, { op: op as Condition["op"] })} />
            {each.op !== "set" && each.op !== "not_set" && <TextInput aria-label={t("value")} style={{ flex: 1, minWidth: 120 }} value={String(each.value ?? "")} onChange={(event) => change(at, { value: event.currentTarget.value })} />}
            <ActionIcon size={36} variant="subtle" color="gray" aria-label={t("removeCondition")} disabled={filter.length === 1} onClick={() => onChange(filter.filter((_, index) => index !== at))}>
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        );
      })}
      <Button w="fit-content" size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => onChange([...filter, { what: "tag", op: "is", value: "" }])}>
        {t("addCondition")}
      </Button>
    </Stack>
  );
}

function Found({ filter }: { filter: readonly Condition[] }) {
  const [settled] = useDebouncedValue(filter, 400);
  const found = useCount(settled);
  return (
    <Text size="sm" role="status" c={found.error === null ? undefined : "var(--mantine-color-error)"}>
      {found.error !== null ? found.error.message : found.data === undefined ? t("counting") : t("rightNow", { count: found.data.count })}
    </Text>
  );
}
