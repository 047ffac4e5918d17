// The weekly times of an account. Before anything is saved, a dry run on the server tells which posts keep their
// time, which move, and which would stand without a slot.
import { Alert, Autocomplete, Button, Checkbox, Drawer, Group, NumberInput, Pill, Radio, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type AnswerOf, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { longDay, placeOf } from "../../ui/times";
import { weekdays } from "../../ui/weekdays";
import { zones } from "../../ui/zones";
import type { QueueView } from "./order";
import { Moves } from "./ResumeDialog";
import { addTime, countSlots, dropTime, readWeek, writeWeek, type Week } from "./week";
import { t } from "../../messages/queue";

const SCHEDULE = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue/schedule";
type Schedule = AnswerOf<typeof SCHEDULE, "get">;
type How = Schemas["ScheduleChange"]["how"];

interface Form {
  week: Week;
  zone: string;
  most: number | null;
  enabled: boolean;
  off: string[];
  how: How;
}

export function ScheduleEditor(props: { account: Account; isNew: boolean; view: QueueView | undefined; onClose: () => void }) {
  const { account, isNew } = props;
  const path = { workspace_id: useWorkspaceId(), account_id: account.id };
  const schedule = useQuery({
    queryKey: ["schedule", path.workspace_id, account.id], // not refreshed by events: a form is not changed under its writer
    queryFn: () => take(api.GET(SCHEDULE, { params: { path } })),
    enabled: !isNew,
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Drawer opened onClose={props.onClose} position="right" size="lg" title={t("whenHandlePosts", { handle: account.handle })}>
      {isNew ? <Editor {...props} start={undefined} /> : <Fetched query={schedule}>{(found) => <Editor {...props} start={found} />}</Fetched>}
    </Drawer>
  );
}

function Editor(props: { account: Account; start: Schedule | undefined; view: QueueView | undefined; onClose: () => void }) {
  const { account, start } = props;
  const path = { workspace_id: useWorkspaceId(), account_id: account.id };
  const [form, setForm] = useState<Form>(() => ({
    week: readWeek(start?.slots_by_day ?? {}),
    zone: start?.zone ?? account.zone,
    most: start?.max_per_day ?? null,
    enabled: start?.enabled ?? true,
    off: start?.blackouts ?? [],
    how: "follow",
  }));
  const change = (part: Partial<Form>) => setForm((now) => ({ ...now, ...part }));
  const save = useAct(
    "queue",
    async () => {
      const slots = writeWeek(form.week);
      const same = { slots, zone: form.zone, max_per_day: form.most, enabled: form.enabled, blackouts: form.off };
      if (start === undefined) await take(api.PUT(SCHEDULE, { params: { path }, body: { ...same, name: "" } }));
      else await take(api.PATCH(SCHEDULE, { params: { path }, body: patch(form, start.revision) }));
    },
    { done: () => t("postingTimesSaved"), after: props.onClose },
  );
  const nothing = countSlots(form.week) === 0;
  return (
    <Stack>
      <WeekTable week={form.week} onChange={(week) => change({ week })} />
      <AddTimes onAdd={(time, days) => change({ week: addTime(form.week, time, days) })} />
      <Group align="flex-start" grow>
        <Autocomplete label={t("timeZone")} data={zones} limit={20} value={form.zone} onChange={(zone) => change({ zone })} />
        <NumberInput
          label={t("postsPerDayAtMost")}
          description={t("leaveEmptyForNoLimit")}
          inputWrapperOrder={["label", "input", "description"]}
          min={1}
          max={500}
          allowDecimal={false}
          value={form.most ?? ""}
          onChange={(said) => change({ most: said === "" ? null : Number(said) })}
        />
      </Group>
      <DaysOff off={form.off} onChange={(off) => change({ off })} />
      <Switch label={t("useTheseSlotsForNewPosts")} checked={form.enabled} onChange={(event) => change({ enabled: event.currentTarget.checked })} />
      {start !== undefined && (
        <>
          <Radio.Group label={t("postsAlreadyInTheQueue")} value={form.how} onChange={(how) => change({ how: how as How })}>
            <Stack gap={6} mt={6}>
              <Radio value="follow" label={t("moveWithTheirSlot")} description={t("ifASlotMovesItsPost")} />
              <Radio value="keep" label={t("keepTheirTimes")} description={t("nothingMovesPostsWithoutASlot")} />
              <Radio value="reflow" label={t("reschedule")} description={t("allPostsTakeTheNewSlots")} />
            </Stack>
          </Radio.Group>
          <Consequences account={account} form={form} start={start} view={props.view} />
        </>
      )}
      {nothing && <Alert color="yellow">{t("addAtLeastOneTimeOr")}</Alert>}
      <Group justify="flex-end">
        <Button variant="default" onClick={props.onClose}>
          {t("cancel")}
        </Button>
        <Button loading={save.isPending} disabled={nothing && start === undefined} onClick={() => save.mutate()}>
          {t("saveTimes")}
        </Button>
      </Group>
    </Stack>
  );
}

function patch(form: Form, revision: number): Schemas["ScheduleChange"] {
  return {
    slots: writeWeek(form.week) as Schemas["ScheduleChange"]["slots"],
    zone: form.zone,
    max_per_day: form.most,
    no_max_per_day: form.most === null,
    enabled: form.enabled,
    blackouts: form.off,
    how: form.how,
    revision,
  };
}

function Consequences(props: { account: Account; form: Form; start: Schedule; view: QueueView | undefined }) {
  const { account, start, view } = props;
  const path = { workspace_id: useWorkspaceId(), account_id: account.id };
  const [settled] = useDebouncedValue(props.form, 350);
  const body = patch(settled, start.revision);
  const tried = useQuery({
    queryKey: ["schedule-try", account.id, body],
    queryFn: () => take(api.PATCH(SCHEDULE, { params: { path, query: { dry_run: true } }, body })),
    retry: false,
    gcTime: 0,
    enabled: zones.includes(settled.zone),
  });
  const words = new Map(view?.days.flatMap((day) => day.lines.flatMap((line) => line.ids.map((id) => [id, line.text] as const))));
  return (
    <section aria-label={t("whatThisChanges")} aria-live="polite">
      <Fetched query={tried} rows={2}>
        {(answer) => (
          <Stack gap="xs">
            <Text size="sm" fw={600}>
              {t("postsKeepTheirTimeMoveGet", { keeps: answer.keeps, moves: answer.moves.length, fixed: answer.pinned.length })}
            </Text>
            {answer.moves.length > 0 && <Moves moves={answer.moves} zone={settled.zone} words={words} />}
            {answer.fixed.length > 0 && (
              <Text size="sm">
                {t("fixedTimePostsStillGoOut", { fixed: answer.fixed.length, place: placeOf(settled.zone) })}
              </Text>
            )}
            {answer.pinned.length > 0 && (
              <Text size="sm">
                {t("thesePostsKeepTheirOldTime", { list: answer.pinned.map((id) => `“${words.get(id) ?? t("aLaterPostInSentence")}”`).join(", ") })}
              </Text>
            )}
          </Stack>
        )}
      </Fetched>
    </section>
  );
}

function WeekTable({ week, onChange }: { week: Week; onChange: (week: Week) => void }) {
  return (
    <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label={t("weeklyTimes")}>
      {weekdays.map(({ day, name }) => (
        <Group key={day} component="li" gap="xs" mih={30}>
          <Text size="sm" fw={600} w={92}>
            {name}
          </Text>
          {(week[day] ?? []).map(({ time }) => (
            <Pill
              key={time}
              withRemoveButton
              size="md"
              removeButtonProps={{ "aria-label": t("removeNameTime", { name, time }), "aria-hidden": false, tabIndex: 0 }}
              onRemove={() => onChange(dropTime(week, day, time))}
            >
              {time}
            </Pill>
          ))}
          {(week[day] ?? []).length === 0 && (
            <Text size="sm" c="dimmed">
              {t("none")}
            </Text>
          )}
        </Group>
      ))}
    </Stack>
  );
}

function AddTimes({ onAdd }: { onAdd: (time: string, days: string[]) => void }) {
  const [time, setTime] = useState("09:00");
  const [days, setDays] = useState(["1", "2", "3", "4", "5"]);
  return (
    <Group align="flex-end" gap="sm">
      <TextInput type="time" label={t("addATime")} value={time} onChange={(event) => setTime(event.currentTarget.value)} w={120} />
      <Checkbox.Group label={t("on")} value={days} onChange={setDays}>
        <Group gap="xs" mt={6}>
          {weekdays.map(({ day, short }) => (
            <Checkbox key={day} value={day} label={short} size="xs" />
          ))}
        </Group>
      </Checkbox.Group>
      <Button variant="light" size="xs" disabled={time === "" || days.length === 0} onClick={() => onAdd(time, days)}>
        {t("add")}
      </Button>
    </Group>
  );
}

function DaysOff({ off, onChange }: { off: string[]; onChange: (off: string[]) => void }) {
  const [day, setDay] = useState("");
  return (
    <div>
      <Group align="flex-end" gap="sm">
        <TextInput type="date" label={t("daysOff")} value={day} onChange={(event) => setDay(event.currentTarget.value)} w={170} />
        <Button
          variant="light"
          size="xs"
          disabled={day === "" || off.includes(day)}
          onClick={() => {
            onChange([...off, day].sort());
            setDay("");
          }}
        >
          {t("add")}
        </Button>
      </Group>
      <Group gap="xs" mt={6}>
        {off.map((each) => (
          <Pill
            key={each}
            withRemoveButton
            removeButtonProps={{ "aria-label": t("removeDay", { day: longDay(each) }), "aria-hidden": false, tabIndex: 0 }}
            onRemove={() => onChange(off.filter((other) => other !== each))}
          >
            {longDay(each)}
          </Pill>
        ))}
      </Group>
    </div>
  );
}

