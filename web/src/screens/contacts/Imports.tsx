// Files of contacts come in: chosen, their columns matched, every row tried, then taken; and can be undone for a day.
// A worker reads them, so one can leave and come back.
import { Alert, Anchor, Button, FileButton, Group, Paper, Progress, SegmentedControl, Select, SimpleGrid, Stack, Table, TagsInput, Text } from "@mantine/core";
import { IconFileSpreadsheet } from "@tabler/icons-react";
import { useRef, useState, type DragEvent } from "react";

import { useAct } from "../../api/act";
import { useAudiences } from "../../api/audiences";
import { api, take } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { moment } from "../../ui/times";
import { useSearchWords } from "../../ui/useSearchWords";
import { ContactExport } from "./ContactExport";
import { ImportRows } from "./ImportRows";
import { targetsFor } from "./targets";
import { consents, useFields } from "./useContacts";
import { IMPORT, useImport, useImportActs, useImports, type ContactImport, type ImportKind, type ImportOptions } from "./useImports";
import { t } from "../../messages/contacts";

export function Imports() {
  const editor = useMay("editor");
  const imports = useImports();
  const [words, set] = useSearchWords();
  const chosen = words.get("import");
  if (!editor) return <Text>{t("onlyEditorsImport")}</Text>;
  return (
    <Stack>
      {chosen === null ? <Upload onUploaded={(id) => set("import", id)} /> : <OneImport key={chosen} id={chosen} onClose={() => set("import", null)} />}
      <Fetched query={imports} rows={1}>
        {(found) => (found.length === 0 ? null : <Past imports={found.filter(({ id }) => id !== chosen)} onOpen={(id) => set("import", id)} />)}
      </Fetched>
      <ContactExport />
    </Stack>
  );
}

function Upload({ onUploaded }: { onUploaded: (id: string) => void }) {
  const workspace_id = useWorkspaceId();
  const reset = useRef<() => void>(null);
  const [kind, setKind] = useState<ImportKind>("contacts");
  const upload = useAct(
    "contact_import",
    (file: File) => {
      const form = new FormData();
      form.append("kind", kind);
      form.append("file", file); // last: the server reads the fields before it
      return take(api.POST("/api/v1/workspaces/{workspace_id}/contact-imports", { params: { path: { workspace_id } }, body: form as never, bodySerializer: (body: unknown) => body as FormData }));
    },
    { after: ({ id }) => onUploaded(id) },
  );
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file !== undefined) upload.mutate(file);
  };
  return (
    <Section title={t("importAFile")} message={t("csvOrXlsx")}>
      <SegmentedControl
        w="fit-content"
        aria-label={t("whatIsInIt")}
        value={kind}
        data={[
          { value: "contacts", label: t("contacts") },
          { value: "channels", label: t("channels") },
        ]}
        onChange={(value) => setKind(value as ImportKind)}
      />
      <Group gap="sm" p="md" onDragOver={(event) => event.preventDefault()} onDrop={drop} style={{ border: "1px dashed var(--mantine-color-default-border)", borderRadius: 8 }}>
        <FileButton
          accept=".csv,.xlsx,text/csv"
          resetRef={reset}
          onChange={(file) => {
            if (file !== null) upload.mutate(file);
            reset.current?.(); // else the same file, changed meanwhile, cannot be chosen again
          }}
        >
          {(props) => (
            <Button {...props} variant="default" loading={upload.isPending} leftSection={<IconFileSpreadsheet size={16} aria-hidden />}>
              {t("chooseAFile")}
            </Button>
          )}
        </FileButton>
        <Text size="sm" c="dimmed">
          {t("orDropItHere")}
        </Text>
      </Group>
    </Section>
  );
}

function OneImport({ id, onClose }: { id: string; onClose: () => void }) {
  const found = useImport(id);
  return (
    <Fetched query={found}>
      {(one) => (
        <Section
          title={one.name}
          message={stateWords(one)}
          actions={
            <Button size="compact-sm" variant="default" onClick={onClose}>
              {t("close")}
            </Button>
          }
        >
          <Standing one={one} />
        </Section>
      )}
    </Fetched>
  );
}

function Standing({ one }: { one: ContactImport }) {
  const { cancel } = useImportActs(one);
  switch (one.state) {
    case "uploaded":
    case "trying":
    case "tried":
      return <Prepare one={one} />;
    case "running":
    case "undoing":
      return (
        <Stack gap="xs">
          <Text size="sm" aria-live="polite">
            {t("rowsRead", { rows: one.read_rows, percent: one.percent })}
          </Text>
          <Progress value={one.percent} animated aria-label={t("progress")} />
          <Counts one={one} />
          {one.state === "running" && (
            <Button w="fit-content" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
              {t("stopImporting")}
            </Button>
          )}
        </Stack>
      );
    default:
      return <Ended one={one} />;
  }
}

/** Columns, options and the trial of every row. */
function Prepare({ one }: { one: ContactImport }) {
  const fields = useFields();
  const audiences = useAudiences();
  const { attempt, start } = useImportActs(one);
  const [mapping, setMapping] = useState<Record<string, string>>(one.mapping ?? one.suggested);
  const [existing, setExisting] = useState<NonNullable<ImportOptions["existing"]>>("update");
  const [tags, setTags] = useState<string[]>([]);
  const [consent, setConsent] = useState<ImportOptions["consent"]>(null);
  const [audience, setAudience] = useState<string | null>(null);
  const options: ImportOptions = { mapping, existing, tags, consent, audience_id: audience, provider: "telegram" };
  const asked = JSON.stringify(options);
  const [tried, setTried] = useState<string | null>(one.state === "tried" ? asked : null);
  const isTried = one.state === "tried" && tried === asked;
  const targets = targetsFor(one.kind, fields.data ?? []);
  return (
    <Stack>
      <Table.ScrollContainer minWidth={300} scrollAreaProps={{ viewportProps: { tabIndex: 0, "aria-label": t("columns") } }}>
        <Table aria-label={t("columns")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("columnInTheFile")}</Table.Th>
              <Table.Th visibleFrom="sm">{t("forExample")}</Table.Th>
              <Table.Th>{t("becomes")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {one.header.map((column, at) => (
              <Table.Tr key={column}>
                <Table.Td>{column}</Table.Td>
                <Table.Td visibleFrom="sm">
                  <Text size="sm" c="dimmed" truncate maw={260}>
                    {one.samples.map((row) => row[at] ?? "").filter((value) => value !== "").slice(0, 2).join(", ")}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Select size="xs" aria-label={t("columnBecomes", { column })} placeholder={t("notImported")} clearable searchable miw={140} data={targets} value={mapping[column] === "" ? null : (mapping[column] ?? null)} onChange={(value) => setMapping({ ...mapping, [column]: value ?? "" })} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {one.kind === "contacts" && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Select
            label={t("peopleYouHave")}
            allowDeselect={false}
            data={[
              { value: "update", label: t("replaceWithTheFile") },
              { value: "fill", label: t("fillGapsOnly") },
              { value: "skip", label: t("leaveThem") },
            ]}
            value={existing}
            onChange={(value) => setExisting(value as typeof existing)}
          />
          <Select label={t("consentOfAll")} placeholder={t("asTheFileSays")} clearable data={[...consents]} value={consent ?? null} onChange={(value) => setConsent(value as ImportOptions["consent"])} />
          <TagsInput label={t("tagEverybody")} value={tags} onChange={setTags} />
          <Select label={t("putThemOnAList")} placeholder={t("noList")} clearable data={(audiences.data ?? []).filter(({ kind }) => kind === "list").map(({ id, name }) => ({ value: id, label: name }))} value={audience} onChange={setAudience} />
        </SimpleGrid>
      )}
      {one.state === "trying" && <Progress value={one.percent} animated aria-label={t("progress")} />}
      {isTried && (
        <>
          <Alert color={one.refused > 0 ? "yellow" : "teal"} role="status" title={t("wouldBeImported", { rows: one.created + one.updated })}>
            <Counts one={one} />
          </Alert>
          {one.reported > 0 && <ImportRows one={one} />}
        </>
      )}
      <Group justify="flex-end">
        <Button
          variant={isTried ? "default" : "filled"}
          loading={attempt.isPending || one.state === "trying"}
          onClick={() => {
            setTried(asked);
            attempt.mutate(options);
          }}
        >
          {isTried ? t("checkAgain") : t("checkEveryRow")}
        </Button>
        {isTried && (
          <Button disabled={one.created + one.updated === 0} loading={start.isPending} onClick={() => start.mutate(options)}>
            {t("importRows", { rows: one.created + one.updated })}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** What became of the rows, in numbers. */
function Counts({ one }: { one: ContactImport }) {
  return <Text size="sm">{t("importCounts", { created: one.created, updated: one.updated, unchanged: one.unchanged, refused: one.refused, flagged: one.flagged })}</Text>;
}

function Ended({ one }: { one: ContactImport }) {
  const workspaceId = useWorkspaceId();
  const { zone } = useMe();
  const { undo } = useImportActs(one);
  const ask = async () => {
    if (await askFirst({ title: t("undoImportQuestion"), message: t("whatItCreatedGoes", { created: one.created, updated: one.updated }), yes: t("undoImport"), danger: true })) undo.mutate();
  };
  return (
    <Stack gap="xs">
      {one.state === "failed" && (
        <Alert color="red" role="alert" title={t("itFailed")}>
          {one.reason}
        </Alert>
      )}
      {one.state === "undone" ? <Text size="sm">{t("undoneCounts", { removed: one.removed, restored: one.restored, kept: one.kept })}</Text> : <Counts one={one} />}
      <Group>
        {one.reported > 0 && (
          <Anchor size="sm" download href={`${IMPORT.replace("{workspace_id}", workspaceId).replace("{import_id}", one.id)}/report`}>
            {t("downloadTheReport")}
          </Anchor>
        )}
        {one.undo_until !== null && (one.state === "done" || one.state === "canceled") && (
          <>
            <Button size="compact-md" variant="default" loading={undo.isPending} onClick={() => void ask()}>
              {t("undoImportDots")}
            </Button>
            <Text size="sm" c="dimmed">
              {t("untilTime", { time: moment(one.undo_until, zone) })}
            </Text>
          </>
        )}
      </Group>
      {one.refused + one.flagged > 0 && <ImportRows one={one} />}
    </Stack>
  );
}

function stateWords(one: ContactImport): string {
  const names: Record<string, string> = { uploaded: t("matchTheColumns"), trying: t("checkingRows"), tried: t("checkedRows"), running: t("importing"), done: t("imported"), canceled: t("stopped"), failed: t("itFailed"), undoing: t("undoing"), undone: t("undone") };
  return names[one.state] ?? one.state;
}

function Past({ imports, onOpen }: { imports: readonly ContactImport[]; onOpen: (id: string) => void }) {
  const { zone } = useMe();
  if (imports.length === 0) return null;
  return (
    <Section title={t("earlierImports")}>
      <Stack gap="xs">
        {imports.map((one) => (
          <Paper key={one.id} withBorder p="xs">
            <Group justify="space-between">
              <div>
                <Text size="sm">{one.name}</Text>
                <Text size="xs" c="dimmed">
                  {stateWords(one)} · {moment(one.asked_at, zone)}
                </Text>
              </div>
              <Button size="compact-sm" variant="default" onClick={() => onOpen(one.id)} aria-label={t("openName", { name: one.name })}>
                {t("open")}
              </Button>
            </Group>
          </Paper>
        ))}
      </Stack>
    </Section>
  );
}
