import { Button, List, Stack, Text } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAct } from "../../api/act";
import { api, take, type AnswerOf } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { ago, fromNow, moment } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { often, policyWords, recurrenceWords, taskWords } from "./words";
import { t } from "../../messages/jobs";

type Schedule = AnswerOf<"/api/v1/schedules", "get">[number];

export function Schedules() {
  const workspaceId = useWorkspaceId();
  const schedules = useQuery({
    queryKey: [workspaceId, "jobs", "schedules"],
    queryFn: () => take(api.GET("/api/v1/schedules")),
    refetchInterval: often,
  });
  return (
    <Fetched query={schedules}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty icon={IconClock} title={t("noSchedulesYet")}>
            {t("workersAddTheirSchedulesWhenThey")}
          </Empty>
        ) : (
          <Stack>
            {rows.map((each) => (
              <ScheduleCard key={each.name} schedule={each} />
            ))}
          </Stack>
        )
      }
    </Fetched>
  );
}

function ScheduleCard({ schedule }: { schedule: Schedule }) {
  const now = useNow();
  const { zone } = useMe();
  const [open, setOpen] = useState(false);
  const params = { path: { name: schedule.name } };
  const pause = useAct("job", () => take(api.POST("/api/v1/schedules/{name}/pause", { params })), {
    done: () => t("nameIsPaused", { name: schedule.name }),
    undo: () => () => resume.mutate(),
  });
  const resume = useAct("job", () => take(api.POST("/api/v1/schedules/{name}/resume", { params })), {
    done: () => t("nameIsRunningAgain", { name: schedule.name }),
  });
  const next = schedule.next_at === null ? t("neverAgain") : `${fromNow(schedule.next_at, now)} (${moment(schedule.next_at, zone)})`;
  return (
    <Section
      title={schedule.name}
      message={`${recurrenceWords(schedule.recurrence)} · ${schedule.paused ? t("paused") : t("nextNext", { next })}`}
      actions={
        <>
          <Button size="compact-sm" variant="default" aria-expanded={open} onClick={() => setOpen(!open)} aria-label={t("nextRunsOfName", { name: schedule.name })}>
            {t("nextRuns")}
          </Button>
          {schedule.paused ? (
            <Button size="compact-sm" onClick={() => resume.mutate()} aria-label={t("resumeName", { name: schedule.name })}>
              {t("resume")}
            </Button>
          ) : (
            <Button size="compact-sm" variant="default" onClick={() => pause.mutate()} aria-label={t("pauseName", { name: schedule.name })}>
              {t("pause")}
            </Button>
          )}
        </>
      }
    >
      <div>
        {taskWords(schedule.task) !== undefined && <Text size="sm">{taskWords(schedule.task)}</Text>}
        <Text size="xs" c="dimmed">
          {schedule.task !== schedule.name && t("taskTask", { task: schedule.task })}{t("queueQueuePolicyWords", { queue: schedule.queue, policyWords: policyWords(schedule) })}
          {schedule.last_at !== null && t("lastWhen", { when: ago(schedule.last_at, now) })}
          {schedule.last_note !== null && ` (${schedule.last_note})`}
        </Text>
      </div>
      {open && <Preview name={schedule.name} />}
    </Section>
  );
}

function Preview({ name }: { name: string }) {
  const workspaceId = useWorkspaceId();
  const { zone } = useMe();
  const preview = useQuery({
    queryKey: [workspaceId, "jobs", "preview", name],
    queryFn: () => take(api.GET("/api/v1/schedules/{name}/preview", { params: { path: { name }, query: { n: 8 } } })),
  });
  return (
    <Fetched query={preview} rows={2}>
      {(rows) => (
        <List size="sm">
          {rows.map((each) => (
            <List.Item key={each.at}>
              {moment(each.at, zone)}
              {each.mark !== "" && each.mark !== "normal" && t("clocksChange")}
            </List.Item>
          ))}
        </List>
      )}
    </Fetched>
  );
}
