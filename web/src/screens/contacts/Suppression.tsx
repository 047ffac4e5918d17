import { Button, FileButton, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue, useDisclosure } from "@mantine/hooks";
import { IconBan, IconDownload, IconPlus, IconSearch, IconUpload } from "@tabler/icons-react";
import { useState } from "react";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { askFor } from "../../ui/askFor";
import { Empty } from "../../ui/Empty";
import { LongList } from "../../ui/LongList";
import { usePages } from "../../ui/Paged";
import { saveFile } from "../../ui/saveFile";
import { tellProblem } from "../../ui/tell";
import { moment } from "../../ui/times";
import { useSearchWords } from "../../ui/useSearchWords";
import { channelName } from "../../ui/words";
import { t } from "../../messages/contacts";

type Suppressed = Schemas["SuppressionView"];
const SUPPRESSION = "/api/v1/workspaces/{workspace_id}/suppression";
const reasons = ["unsubscribe", "complaint", "hard_bounce", "manual", "erasure"] as const;
const LINES = 1_000; // of a file that one request takes

const reasonNames: Record<string, string> = {
  unsubscribe: t("reasonUnsubscribe"),
  complaint: t("reasonComplaint"),
  hard_bounce: t("reasonHardBounce"),
  manual: t("reasonManual"),
  erasure: t("reasonErasure"),
};

/** Whom nothing is sent to, whoever asks for it. */
export function Suppression() {
  const workspace_id = useWorkspaceId();
  const [editor, admin] = [useMay("editor"), useMay("admin")];
  const [words, set] = useSearchWords();
  const [adding, { open, close }] = useDisclosure();
  const reason = reasons.find((each) => each === words.get("reason"));
  const [starts] = useDebouncedValue(words.get("starts") ?? undefined, 250);
  const list = usePages<Suppressed, string>([workspace_id, "suppression", reason, starts], (cursor) =>
    take(api.GET(SUPPRESSION, { params: { path: { workspace_id }, query: { reason, starts, cursor, limit: 200 } } })),
  );
  return (
    <Stack>
      <Group gap="xs">
        <TextInput aria-label={t("search")} placeholder={t("startsWith")} leftSection={<IconSearch size={16} aria-hidden />} value={words.get("starts") ?? ""} onChange={(event) => set("starts", event.currentTarget.value)} style={{ flex: 1, minWidth: 180 }} />
        <Select aria-label={t("reason")} placeholder={t("anyReason")} clearable w={170} data={reasons.map((value) => ({ value, label: reasonNames[value] ?? value }))} value={reason ?? null} onChange={(value) => set("reason", value)} />
        {admin && <Export />}
        {editor && <ImportFile />}
        {editor && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t("addToList")}
          </Button>
        )}
      </Group>
      <LongList
        pages={list}
        label={t("doNotContact")}
        keyOf={({ kind, value, channel, reason: why }) => `${kind} ${value} ${channel} ${why}`}
        empty={
          reason !== undefined || starts !== undefined ? (
            <Text c="dimmed">{t("nobodyMatches")}</Text>
          ) : (
            <Empty icon={IconBan} title={t("nobodyIsBlocked")}>
              {t("whoUnsubscribesIsHere")}
            </Empty>
          )
        }
      >
        {(each) => <Row suppressed={each} admin={admin} />}
      </LongList>
      {adding && <Add onClose={close} />}
    </Stack>
  );
}

function Row({ suppressed, admin }: { suppressed: Suppressed; admin: boolean }) {
  const workspace_id = useWorkspaceId();
  const { zone } = useMe();
  const { kind, value, channel, reason } = suppressed;
  const remove = useAct("suppression", (why: string) => take(api.POST(`${SUPPRESSION}/remove`, { params: { path: { workspace_id } }, body: { kind, value, channel, reason, why } })), { done: () => t("mayBeContactedAgain", { value }) });
  const ask = async () => {
    const why = await askFor({ title: t("allowValueAgain", { value }), message: t("onlyIfTheyAskedForIt"), label: t("whyIsThat"), yes: t("allowAgain"), danger: true });
    if (why !== null) remove.mutate(why);
  };
  return (
    <Group h="100%" wrap="nowrap" justify="space-between" gap="sm">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" truncate>
          {kind === "domain" ? `@${value}` : value}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {[reasonNames[reason] ?? reason, channel === "all" ? t("everyChannel") : channelName(channel), moment(suppressed.created_at, zone), suppressed.note].filter((part) => part !== "").join(" · ")}
        </Text>
      </div>
      {admin && (
        <Button size="compact-sm" variant="default" style={{ flex: "none" }} loading={remove.isPending} onClick={() => void ask()} aria-label={t("allowValueAgain", { value })}>
          {t("allowDots")}
        </Button>
      )}
    </Group>
  );
}

function Add({ onClose }: { onClose: () => void }) {
  const workspace_id = useWorkspaceId();
  const form = useForm({ initialValues: { kind: "address" as Suppressed["kind"], value: "", note: "" } });
  const save = useAct("suppression", (values: typeof form.values) => take(api.POST(SUPPRESSION, { params: { path: { workspace_id } }, body: { ...values, reason: "manual", channel: "all" } })), {
    done: ({ value }) => t("valueIsBlocked", { value }),
    after: onClose,
    refused: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  return (
    <Modal opened onClose={onClose} title={t("addToList")}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <Text size="sm">{t("takesEffectAtOnce")}</Text>
          <Select
            label={t("kind")}
            allowDeselect={false}
            data={[
              { value: "address", label: t("emailAddress") },
              { value: "domain", label: t("wholeDomain") },
              { value: "handle", label: t("handle") },
            ]}
            {...form.getInputProps("kind")}
          />
          <TextInput label={t("value")} required data-autofocus maxLength={300} {...form.getInputProps("value")} />
          <TextInput label={t("note")} maxLength={200} {...form.getInputProps("note")} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button type="submit" color="red" loading={save.isPending}>
              {t("doNotContactThem")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function ImportFile() {
  const workspace_id = useWorkspaceId();
  const send = useAct(
    "suppression",
    async (file: File) => {
      const [head = "", ...lines] = (await file.text()).split(/\r?\n/).filter((line) => line.trim() !== "");
      let [added, refused] = [0, 0];
      for (let at = 0; at < lines.length; at += LINES - 1) {
        const csv = [head, ...lines.slice(at, at + LINES - 1)].join("\n");
        const answer = await take(api.POST(`${SUPPRESSION}/import`, { params: { path: { workspace_id } }, body: { csv } }));
        added += answer.added;
        refused += answer.refused.length;
      }
      return { added, refused };
    },
    { done: (answer) => t("linesWereAdded", answer) },
  );
  return (
    <FileButton accept=".csv,text/csv" onChange={(file) => file !== null && send.mutate(file)}>
      {(props) => (
        <Button {...props} variant="default" loading={send.isPending} leftSection={<IconUpload size={16} aria-hidden />}>
          {t("import")}
        </Button>
      )}
    </FileButton>
  );
}

function Export() {
  const workspace_id = useWorkspaceId();
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const parts: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await take(api.GET(`${SUPPRESSION}/export`, { params: { path: { workspace_id }, query: { cursor } } }));
        parts.push(page.csv);
        if (page.next === null) break;
        cursor = page.next;
      }
      saveFile("do-not-contact.csv", new Blob(parts, { type: "text/csv" }));
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <Button variant="default" loading={busy} leftSection={<IconDownload size={16} aria-hidden />} onClick={() => void download()}>
      {t("export")}
    </Button>
  );
}
