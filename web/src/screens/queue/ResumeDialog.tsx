import { Button, Group, Modal, NumberInput, Radio, ScrollArea, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";

import type { Schemas } from "../../api/client";
import { Fetched } from "../../ui/Fetched";
import { clock, dayName, moment, placeOf } from "../../ui/times";
import type { QueueView } from "./order";
import { useResumePreview } from "./useQueue";
import { t } from "../../messages/queue";

type Choice = Schemas["ResumeInput"]["choice"];

const choices: { value: Choice; label: string; description: string }[] = [
  { value: "shift", label: t("moveToTheNextFreeSlots"), description: t("theyTakeTheNextFreeSlots") },
  { value: "send", label: t("sendNowSpacedOut"), description: t("oneAfterAnotherStartingNowOther") },
  { value: "draft", label: t("moveToDrafts"), description: t("nothingIsSentLateDecideAbout") },
];

/** What becomes of what came due meanwhile: three choices, each shown before it is done. */
export function ResumeDialog(props: {
  accountId: string;
  /** Null: the account has no weekly slots. */
  view: QueueView | null;
  zone: string;
  /** Else it was disconnected, and sends again. */
  paused: boolean;
  busy: boolean;
  onResume: (asked: Schemas["ResumeInput"]) => void;
  onClose: () => void;
}) {
  const offered = props.view === null ? choices.filter(({ value }) => value !== "shift") : choices;
  const [choice, setChoice] = useState<Choice>(props.view === null ? "send" : "shift");
  const [minutes, setMinutes] = useState(5);
  const preview = useResumePreview(props.accountId, choice, minutes, true);
  return (
    <Modal opened onClose={props.onClose} title={props.view === null ? t("resume") : t("resumeQueue")} size="lg">
      <Stack>
        <Radio.Group label={props.paused ? t("dueWhilePaused") : t("dueWhileDisconnected")} value={choice} onChange={(said) => setChoice(said as Choice)}>
          <Stack gap="xs" mt="xs">
            {offered.map((each) => (
              <Radio key={each.value} {...each} />
            ))}
          </Stack>
        </Radio.Group>
        {choice === "send" && (
          <NumberInput label={t("minutesBetweenPosts")} min={1} max={1440} value={minutes} onChange={(said) => setMinutes(Number(said) || 5)} w={200} />
        )}
        <Fetched query={preview} rows={2}>
          {(answer) => <Preview answer={answer} view={props.view} zone={props.zone} />}
        </Fetched>
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            {props.paused ? t("cancel") : t("notNow")}
          </Button>
          <Button
            loading={props.busy}
            disabled={preview.data === undefined}
            onClick={() => props.onResume({ choice, minutes_apart: minutes })}
          >
            {t("resume")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Preview({ answer, view, zone }: { answer: Schemas["ResumedView"]; view: QueueView | null; zone: string }) {
  const words = new Map((view?.days ?? []).flatMap((day) => day.lines.flatMap((line) => line.ids.map((id) => [id, line.text] as const))));
  if (answer.held.length === 0) return <Text size="sm">{t("nothingWasDueInTheMeantime")}</Text>;
  if (answer.choice === "draft") return <Text size="sm">{t("postsMoveToDrafts", { takenBack: answer.taken_back.length })}</Text>;
  return (
    <div aria-live="polite">
      <Text size="sm" mb={4}>
        {t("postsWereDuePostsGetA", { held: answer.held.length, moved: answer.moved.length })}
      </Text>
      <ScrollArea.Autosize mah={220}>
        <Moves moves={answer.moved} zone={zone} words={words} />
      </ScrollArea.Autosize>
    </div>
  );
}

/** Who would move from when to when. */
export function Moves(props: { moves: readonly Schemas["MovedView"][]; zone: string; words: ReadonlyMap<string, string | null | undefined> }) {
  const { zone } = props;
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("post")}</Table.Th>
          <Table.Th>{t("currentTime", { place: placeOf(zone) })}</Table.Th>
          <Table.Th>{t("newTime", { place: placeOf(zone) })}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {props.moves.slice(0, 100).map((move) => (
          <Table.Tr key={move.id}>
            <Table.Td>
              <Text size="sm" lineClamp={1}>
                {props.words.get(move.id) ?? t("aLaterPost")}
              </Text>
            </Table.Td>
            <Table.Td>{moment(move.was_at, zone)}</Table.Td>
            <Table.Td>{dayName(move.was_at, zone) === dayName(move.now_at, zone) ? clock(move.now_at, zone) : moment(move.now_at, zone)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
