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
import { count } from "../../ui/words";
import { JobDrawer } from "./JobDrawer";
import { jobWord, often } from "./words";

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
    { done: ({ changed }) => `${count(changed.length, "failed job")} brought back.` },
  );
  const askRedrive = async () => {
    const many = jobs.query.hasNextPage ? "all failed jobs of this list" : count(jobs.rows.length, "failed job");
    const says = "Each runs again, with as many tries as at first. What it did before it failed, it may do twice.";
    if (await askFirst({ title: `Try ${many} again?`, says, yes: "Try again" })) redrive.mutate();
  };
  return (
    <>
      <Group mb="md" align="flex-end" gap="xs">
        <Select
          label="State"
          placeholder="Any"
          clearable
          w={150}
          value={state ?? null}
          data={states.map((value) => ({ value, label: jobWord(value).says }))}
          onChange={(value) => set("state", value as State | null)}
        />
        <TextInput label="Task" placeholder="Its whole name" value={search.get("task") ?? ""} onChange={(event) => set("task", event.currentTarget.value)} />
        {queue !== null && (
          <Button variant="default" onClick={() => set("queue", null)}>
            Queue {queue}: show all queues
          </Button>
        )}
        {state === "failed" && jobs.rows.length > 0 && (
          <Button loading={redrive.isPending} onClick={() => void askRedrive()}>
            Try these again
          </Button>
        )}
      </Group>
      <Paged
        pages={jobs}
        empty={
          <Empty icon={IconListCheck} title="No such jobs">
            Nothing is in this state at the moment.
          </Empty>
        }
      >
        {(rows) => (
          <Table.ScrollContainer minWidth={320} scrollAreaProps={{ viewportProps: { tabIndex: 0, "aria-label": "Jobs" } }}>
            <Table verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Task</Table.Th>
                  <Table.Th>State</Table.Th>
                  <Table.Th>Runs</Table.Th>
                  <Table.Th visibleFrom="sm">Attempts</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>More</VisuallyHidden>
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
          {word.says}
        </Badge>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{job.finished_at === null ? fromNow(job.run_at, now) : ago(job.finished_at, now)}</Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {job.attempts}
        {job.crashes > 0 && ` (${count(job.crashes, "crash", "crashes")})`}
      </Table.Td>
      <Table.Td ta="right">
        <Button size="compact-sm" variant="default" onClick={onOpen} aria-label={`Look at job ${job.id}`}>
          Look
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
