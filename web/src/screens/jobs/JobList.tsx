import { Badge, Button, Group, Select, Table, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconListCheck } from "@tabler/icons-react";
import { useState } from "react";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Paged, usePages } from "../../ui/Paged";
import { ago, fromNow } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { useSearchWords } from "../../ui/useSearchWords";
import { JobDrawer } from "./JobDrawer";
import { jobWord, often } from "./words";
import { t } from "../../messages/jobs";

type Job = Schemas["JobView"];
const states = ["waiting", "running", "done", "failed", "canceled"] as const;
type State = (typeof states)[number];

export function JobList() {
  const workspaceId = useWorkspaceId();
  const now = useNow();
  const [search, set] = useSearchWords();
  const [shown, setShown] = useState<number | null>(null);
  const queue = search.get("queue");
  const state = states.find((each) => each === search.get("state"));
  const [task] = useDebouncedValue(search.get("task") ?? "", 300);
  const jobs = usePages(
    [workspaceId, "jobs", "list", queue, state, task],
    (before?: number) =>
      take(
        api.GET("/api/v1/jobs", {
          params: { query: { queue: queue ?? undefined, state: state === undefined ? undefined : [state], task: task === "" ? undefined : task, before } },
        }),
      ),
    { refetchInterval: often },
  );
  const redrive = useAct(
    "job",
    () => take(api.POST("/api/v1/jobs/redrive", { body: { queue, task: task === "" ? null : task, limit: 1000 } })),
    { done: ({ changed }) => t("failedJobsWillRunAgain", { changed: changed.length }) },
  );
  const askRedrive = async () => {
    const title = jobs.query.hasNextPage ? t("tryAllFailedJobsInThis") : t("tryListedJobsAgainQuestion", { rows: jobs.rows.length });
    const message = t("eachJobRunsAgainWithAll");
    if (await askFirst({ title, message, yes: t("tryAgain") })) redrive.mutate();
  };
  return (
    <>
      <Group mb="md" align="flex-end" gap="xs">
        <Select
          label={t("status")}
          placeholder={t("any")}
          clearable
          w={150}
          value={state ?? null}
          data={states.map((value) => ({ value, label: jobWord(value).message }))}
          onChange={(value) => set("state", value as State | null)}
        />
        <TextInput label={t("task")} placeholder={t("fullName")} value={search.get("task") ?? ""} onChange={(event) => set("task", event.currentTarget.value)} />
        {queue !== null && (
          <Button variant="default" onClick={() => set("queue", null)}>
            {t("queueQueueShowAllQueues", { queue })}
          </Button>
        )}
        {state === "failed" && jobs.rows.length > 0 && (
          <Button loading={redrive.isPending} onClick={() => void askRedrive()}>
            {t("tryTheseAgain")}
          </Button>
        )}
      </Group>
      <Paged
        pages={jobs}
        empty={
          <Empty icon={IconListCheck} title={t("noJobs")}>
            {t("noJobsWithThisStatusRight")}
          </Empty>
        }
      >
        {(rows) => (
          <Table.ScrollContainer minWidth={320} scrollAreaProps={{ viewportProps: { tabIndex: 0, "aria-label": t("jobs") } }}>
            <Table verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t("task")}</Table.Th>
                  <Table.Th>{t("status")}</Table.Th>
                  <Table.Th>{t("runs")}</Table.Th>
                  <Table.Th visibleFrom="sm">{t("attempts")}</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>{t("more")}</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((job) => (
                  <JobRow key={job.id} job={job} now={now} onOpen={() => setShown(job.id)} />
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Paged>
      <JobDrawer id={shown} onClose={() => setShown(null)} />
    </>
  );
}

function JobRow({ job, now, onOpen }: { job: Job; now: Date; onOpen: () => void }) {
  const word = jobWord(job.state);
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">{job.task}</Text>
        <Text size="xs" c="dimmed">
          {job.queue} · {job.id}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge variant="outline" miw="max-content" color={word.colour}>
          {word.message}
        </Badge>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{job.finished_at === null ? fromNow(job.run_at, now) : ago(job.finished_at, now)}</Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {job.attempts}
        {job.crashes > 0 && t("crashes", { crashes: job.crashes })}
      </Table.Td>
      <Table.Td ta="right">
        <Button size="compact-sm" variant="default" onClick={onOpen} aria-label={t("viewJobId", { id: job.id })}>
          {t("view")}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
