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
import { count } from "../../ui/words";
import { zones } from "../../ui/zones";
import type { QueueView } from "./order";
import { Moves } from "./ResumeDialog";
import { addTime, countSlots, dropTime, readWeek, writeWeek, type Week } from "./week";

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
    <Drawer opened onClose={props.onClose} position="right" size="lg" title={`When ${account.handle} posts`}>
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
    { done: () => "The times are saved.", after: props.onClose },
  );
  const nothing = countSlots(form.week) === 0;
  return (
    <Stack>
      <WeekTable week={form.week} onChange={(week) => change({ week })} />
      <AddTimes onAdd={(time, days) => change({ week: addTime(form.week, time, days) })} />
      <Group align="flex-start" grow>
        <Autocomplete label="Time zone" data={zones} limit={20} value={form.zone} onChange={(zone) => change({ zone })} />
        <NumberInput
          label="At most a day"
          description="Leave it empty for no limit"
          inputWrapperOrder={["label", "input", "description"]}
          min={1}
          max={500}
          allowDecimal={false}
          value={form.most ?? ""}
          onChange={(said) => change({ most: said === "" ? null : Number(said) })}
        />
      </Group>
      <DaysOff off={form.off} onChange={(off) => change({ off })} />
      <Switch label="Give these slots to new posts" checked={form.enabled} onChange={(event) => change({ enabled: event.currentTarget.checked })} />
      {start !== undefined && (
        <>
          <Radio.Group label="Posts that stand in the queue" value={form.how} onChange={(how) => change({ how: how as How })}>
            <Stack gap={6} mt={6}>
              <Radio value="follow" label="Go with their slot" description="A moved time takes its post along; a removed one leaves it pinned." />
              <Radio value="keep" label="Keep their times" description="Nothing moves; posts without a slot are pinned." />
              <Radio value="reflow" label="Are laid out again" description="All posts take the new slots in order." />
            </Stack>
          </Radio.Group>
          <Consequences account={account} form={form} start={start} view={props.view} />
        </>
      )}
      {nothing && <Alert color="yellow">Without a single time, posts find no slot. Add one above.</Alert>}
      <Group justify="flex-end">
        <Button variant="default" onClick={props.onClose}>
          Leave it as it was
        </Button>
        <Button loading={save.isPending} disabled={nothing && start === undefined} onClick={() => save.mutate()}>
          Save the times
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
    <section aria-label="What this changes" aria-live="polite">
      <Fetched query={tried} rows={2}>
        {(answer) => (
          <Stack gap="xs">
            <Text size="sm" fw={600}>
              {count(answer.keeps, "post keeps its time", "posts keep their time")} · {count(answer.moves.length, "moves", "move")} ·{" "}
              {answer.pinned.length} pinned
            </Text>
            {answer.moves.length > 0 && <Moves moves={answer.moves} zone={settled.zone} words={words} />}
            {answer.fixed.length > 0 && (
              <Text size="sm">
                {count(answer.fixed.length, "fixed-time post goes", "fixed-time posts go")} out at the same moment as before, so the clock in {placeOf(settled.zone)} shows another time.
              </Text>
            )}
            {answer.pinned.length > 0 && (
              <Text size="sm">
                Pinned posts go out at their old time, without a slot: {answer.pinned.map((id) => `“${words.get(id) ?? "a later post"}”`).join(", ")}
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
    <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Weekly times">
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
              removeButtonProps={{ "aria-label": `Remove ${name} ${time}`, "aria-hidden": false, tabIndex: 0 }}
              onRemove={() => onChange(dropTime(week, day, time))}
            >
              {time}
            </Pill>
          ))}
          {(week[day] ?? []).length === 0 && (
            <Text size="sm" c="dimmed">
              none
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
      <TextInput type="time" label="Add a time" value={time} onChange={(event) => setTime(event.currentTarget.value)} w={120} />
      <Checkbox.Group label="on" value={days} onChange={setDays}>
        <Group gap="xs" mt={6}>
          {weekdays.map(({ day, short }) => (
            <Checkbox key={day} value={day} label={short} size="xs" />
          ))}
        </Group>
      </Checkbox.Group>
      <Button variant="light" size="xs" disabled={time === "" || days.length === 0} onClick={() => onAdd(time, days)}>
        Add
      </Button>
    </Group>
  );
}

function DaysOff({ off, onChange }: { off: string[]; onChange: (off: string[]) => void }) {
  const [day, setDay] = useState("");
  return (
    <div>
      <Group align="flex-end" gap="sm">
        <TextInput type="date" label="Days off" value={day} onChange={(event) => setDay(event.currentTarget.value)} w={170} />
        <Button
          variant="light"
          size="xs"
          disabled={day === "" || off.includes(day)}
          onClick={() => {
            onChange([...off, day].sort());
            setDay("");
          }}
        >
          Add
        </Button>
      </Group>
      <Group gap="xs" mt={6}>
        {off.map((each) => (
          <Pill
            key={each}
            withRemoveButton
            removeButtonProps={{ "aria-label": `Remove ${longDay(each)}`, "aria-hidden": false, tabIndex: 0 }}
            onRemove={() => onChange(off.filter((other) => other !== each))}
          >
            {longDay(each)}
          </Pill>
        ))}
      </Group>
    </div>
  );
}

