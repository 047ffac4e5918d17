import { Button, Group, Select, Text } from "@mantine/core";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { LongList } from "../../ui/LongList";
import { usePages } from "../../ui/Paged";
import { StateBadge } from "../../ui/StateBadge";
import { ago, fromNow } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { useSearchWords } from "../../ui/useSearchWords";
import { stateWord } from "../../ui/words";
import { ContactName } from "../contacts/Members";
import { causeWord } from "./SequencePage";
import { SEQUENCE, type Enrolled, type Sequence } from "./useSequence";
import { t } from "../../messages/sequences";

const states = ["waiting", "planned", "paused", "snoozed", "finished", "stopped"] as const;

/** Everybody in the sequence, how they stand and why. */
export function SequenceContacts({ sequence }: { sequence: Sequence }) {
  const workspace_id = useWorkspaceId();
  const [words, set] = useSearchWords();
  const state = states.find((each) => each === words.get("state"));
  const people = usePages<Enrolled, string>([workspace_id, "sequence-contacts", sequence.id, state], (cursor) =>
    take(api.GET(`${SEQUENCE}/contacts`, { params: { path: { workspace_id, sequence_id: sequence.id }, query: { state, cursor, limit: 200 } } })),
  );
  return (
    <>
      <Select aria-label={t("status")} placeholder={t("anyStatus")} clearable w={180} value={state ?? null} data={states.map((value) => ({ value, label: stateWord(value).message }))} onChange={(value) => set("state", value)} />
      <LongList
        pages={people}
        label={t("contactsInIt")}
        keyOf={({ contact_id }) => contact_id}
        empty={
          <Text size="sm" c="dimmed">
            {state === undefined ? t("nobodyIsInIt") : t("nobodyWithThisStatus")}
          </Text>
        }
      >
        {(each) => <Row enrolled={each} sequence={sequence} />}
      </LongList>
    </>
  );
}

function Row({ enrolled, sequence }: { enrolled: Enrolled; sequence: Sequence }) {
  const path = { workspace_id: useWorkspaceId(), sequence_id: sequence.id, contact_id: enrolled.contact_id };
  const editor = useMay("editor");
  const now = useNow();
  const account = useAccounts().data?.find(({ id }) => id === enrolled.account_id);
  const ONE = `${SEQUENCE}/contacts/{contact_id}` as const;
  const resume = useAct("sequence", () => take(api.POST(`${ONE}/resume`, { params: { path } })), { done: () => t("theyGoOn") });
  const stop = useAct("sequence", () => take(api.POST(`${ONE}/stop`, { params: { path } })), { done: () => t("theyAreStopped"), undo: () => () => resume.mutate() });
  const about = [
    enrolled.next_step < sequence.steps.length && enrolled.state !== "stopped" ? t("nextStep", { number: enrolled.next_step + 1 }) : null,
    enrolled.cause === null ? null : causeWord(enrolled.cause),
    enrolled.detail,
    enrolled.last_sent_at === null ? null : t("lastMessage", { when: ago(enrolled.last_sent_at, now) }),
    enrolled.state === "waiting" ? t("ready", { when: fromNow(enrolled.ready_at, now) }) : null,
    account?.handle,
  ];
  const active = enrolled.state === "waiting" || enrolled.state === "planned" || enrolled.state === "snoozed";
  return (
    <Group h="100%" wrap="nowrap" justify="space-between" gap="sm">
      <div style={{ minWidth: 0 }}>
        <ContactName id={enrolled.contact_id} />
        <Text size="xs" c="dimmed" truncate>
          {about.filter((part) => part !== null && part !== undefined && part !== "").join(" · ")}
        </Text>
      </div>
      <Group gap={6} wrap="nowrap" style={{ flex: "none" }}>
        <StateBadge state={enrolled.state} />
        {editor && active && (
          <Button size="compact-sm" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
            {t("stop")}
          </Button>
        )}
        {editor && (enrolled.state === "paused" || enrolled.cause === "by_hand") && (
          <Button size="compact-sm" variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
            {t("resume")}
          </Button>
        )}
      </Group>
    </Group>
  );
}
