import { Alert, Button, Code, Drawer, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { momentThere } from "../../ui/times";
import { jobWord, taskWords } from "./words";
import { t } from "../../messages/jobs";

/** One job: why it does not run, what it was given, what went wrong. */
export function JobDrawer({ id, onClose }: { id: number | null; onClose: () => void }) {
  return (
    <Drawer opened={id !== null} onClose={onClose} position="right" size="lg" title={id === null ? "" : t("jobId", { id })}>
      {id !== null && <JobView id={id} />}
    </Drawer>
  );
}

function JobView({ id }: { id: number }) {
  const workspaceId = useWorkspaceId();
  const { zone } = useMe();
  const params = { path: { job_id: id } };
  const job = useQuery({
    queryKey: [workspaceId, "jobs", "one", id],
    queryFn: () => take(api.GET("/api/v1/jobs/{job_id}", { params })),
  });
  const why = useQuery({
    queryKey: [workspaceId, "jobs", "why", id],
    queryFn: () => take(api.GET("/api/v1/jobs/{job_id}/why", { params })),
  });
  const retry = useAct("job", () => take(api.POST("/api/v1/jobs/{job_id}/retry", { params })), { done: () => t("runningAgain") });
  const cancel = useAct("job", () => take(api.POST("/api/v1/jobs/{job_id}/cancel", { params })), {
    done: (answer) => (answer.state === "running" ? t("stoppingDots") : t("canceledToast")),
    undo: (answer) => (answer.state === "canceled" ? () => retry.mutate() : undefined),
  });
  const askCancel = async (state: string) => {
    const message = t("itStopsAtTheNextSafe");
    if (state !== "running" || (await askFirst({ title: t("stopThisRunningJob"), message, yes: t("stop"), danger: true }))) cancel.mutate();
  };
  return (
    <Fetched query={job}>
      {(shown) => (
        <Stack>
          <div>
            <Text fw={600}>{shown.task}</Text>
            {taskWords(shown.task) !== undefined && <Text size="sm">{taskWords(shown.task)}</Text>}
            <Text size="sm" c="dimmed">
              {t("saysQueueQueueCreatedTimeRuns", { message: jobWord(shown.state).message, queue: shown.queue, time: momentThere(shown.created_at, zone), time2: momentThere(shown.run_at, zone) })}
            </Text>
          </div>
          {why.data !== undefined && <Alert color="blue">{why.data.message}</Alert>}
          <Group gap="xs">
            <Button size="compact-md" loading={retry.isPending} disabled={shown.state === "running"} onClick={() => retry.mutate()}>
              {shown.state === "waiting" ? t("runNow") : t("runAgain")}
            </Button>
            {(shown.state === "waiting" || shown.state === "running") && (
              <Button size="compact-md" variant="default" loading={cancel.isPending} onClick={() => void askCancel(shown.state)}>
                {t("cancelJob")}
              </Button>
            )}
          </Group>
          <Told title={t("input")} value={shown.payload} />
          {shown.progress !== null && <Told title={t("progress")} value={shown.progress} />}
          {shown.errors.map((error, index) => (
            <Told key={index} title={t("errorIndex", { index: index + 1 })} value={error} />
          ))}
        </Stack>
      )}
    </Fetched>
  );
}

function Told({ title, value }: { title: string; value: unknown }) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <Code block tabIndex={0} aria-label={title} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", maxHeight: 320, overflow: "auto" }}>
        {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
      </Code>
    </div>
  );
}
