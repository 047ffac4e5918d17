import { Badge, Button, Group, SimpleGrid, Text } from "@mantine/core";
import { IconStack2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { useAct } from "../../api/act";
import { api, take, type AnswerOf } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { askFor } from "../../ui/askFor";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { count } from "../../ui/words";
import { jobWord, often } from "./words";

type Shown = AnswerOf<"/api/v1/jobs/queues", "get">[number];

export function Queues() {
  const workspaceId = useWorkspaceId();
  const queues = useQuery({
    queryKey: [workspaceId, "jobs", "queues"],
    queryFn: () => take(api.GET("/api/v1/jobs/queues")),
    refetchInterval: often,
  });
  return (
    <Fetched query={queues}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty icon={IconStack2} title="No jobs yet">
            Queues appear with their first job.
          </Empty>
        ) : (
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            {rows.map((each) => (
              <QueueCard key={each.queue} queue={each} />
            ))}
          </SimpleGrid>
        )
      }
    </Fetched>
  );
}

function QueueCard({ queue }: { queue: Shown }) {
  const workspaceId = useWorkspaceId();
  const path = { queue: queue.queue };
  const pause = useAct(
    "job",
    (reason: string) => take(api.POST("/api/v1/jobs/queues/{queue}/pause", { params: { path }, body: { reason } })),
    { done: () => `${queue.queue} is paused on all machines.` },
  );
  const resume = useAct("job", () => take(api.POST("/api/v1/jobs/queues/{queue}/resume", { params: { path } })), {
    done: () => `${queue.queue} is open again.`,
  });
  const redrive = useAct("job", () => take(api.POST("/api/v1/jobs/redrive", { body: { queue: queue.queue, limit: 1000 } })), {
    done: ({ changed }) => `${count(changed.length, "failed job")} brought back.`,
  });
  const askPause = async () => {
    const reason = await askFor({
      title: `Pause ${queue.queue}?`,
      says: "Nothing more of it is begun, on any machine, until it is resumed. What runs ends.",
      label: "Why",
      yes: "Pause",
    });
    if (reason !== null) pause.mutate(reason);
  };
  const failed = queue.counts.failed ?? 0;
  const askRedrive = async () => {
    const says = "Each runs again, with as many tries as at first. What it did before it failed, it may do twice.";
    if (await askFirst({ title: `Try ${count(failed, "failed job")} again?`, says, yes: "Try again" })) redrive.mutate();
  };
  return (
    <Section
      title={queue.queue}
      says={queue.paused ? `Paused: ${queue.reason ?? "no reason given"}` : "Open"}
      actions={
        queue.paused ? (
          <Button size="compact-sm" loading={resume.isPending} onClick={() => resume.mutate()} aria-label={`Resume ${queue.queue}`}>
            Resume
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" loading={pause.isPending} onClick={() => void askPause()} aria-label={`Pause ${queue.queue}`}>
            Pause
          </Button>
        )
      }
    >
      <Group gap="xs">
        {Object.entries(queue.counts).map(([state, number]) => (
          <Badge
            key={state}
            component={Link}
            to={`/w/${workspaceId}/jobs/list?queue=${encodeURIComponent(queue.queue)}&state=${state}`}
            variant="outline"
            color={jobWord(state).colour}
            style={{ cursor: "pointer" }}
          >
            {number} {jobWord(state).says.toLowerCase()}
          </Badge>
        ))}
        {Object.keys(queue.counts).length === 0 && (
          <Text size="sm" c="dimmed">
            Empty
          </Text>
        )}
      </Group>
      {failed > 0 && (
        <Button w="fit-content" size="compact-sm" variant="light" loading={redrive.isPending} onClick={() => void askRedrive()}>
          Try {count(failed, "failed job")} again
        </Button>
      )}
    </Section>
  );
}
