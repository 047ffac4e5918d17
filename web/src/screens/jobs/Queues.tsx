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
import { jobWord, often } from "./words";
import { t } from "../../messages/jobs";

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
          <Empty icon={IconStack2} title={t("noJobsYet")}>
            {t("queuesShowUpWithTheirFirst")}
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
    { done: () => t("queueIsPausedOnAllWorkers", { queue: queue.queue }) },
  );
  const resume = useAct("job", () => take(api.POST("/api/v1/jobs/queues/{queue}/resume", { params: { path } })), {
    done: () => t("queueIsRunningAgain", { queue: queue.queue }),
  });
  const redrive = useAct("job", () => take(api.POST("/api/v1/jobs/redrive", { body: { queue: queue.queue, limit: 1000 } })), {
    done: ({ changed }) => t("failedJobsWillRunAgain", { changed: changed.length }),
  });
  const askPause = async () => {
    const reason = await askFor({
      title: t("pauseQueueQuestion", { queue: queue.queue }),
      message: t("noWorkerStartsNewJobsFrom"),
      label: t("reason"),
      yes: t("pause"),
    });
    if (reason !== null) pause.mutate(reason);
  };
  const failed = queue.counts.failed ?? 0;
  const askRedrive = async () => {
    const message = t("eachJobRunsAgainWithAll");
    if (await askFirst({ title: t("tryFailedJobsAgainQuestion", { failed }), message, yes: t("tryAgain") })) redrive.mutate();
  };
  return (
    <Section
      title={queue.queue}
      message={queue.paused ? t("pausedReason", { reason: queue.reason ?? t("noReasonGiven") }) : t("running")}
      actions={
        queue.paused ? (
          <Button size="compact-sm" loading={resume.isPending} onClick={() => resume.mutate()} aria-label={t("resumeQueue", { queue: queue.queue })}>
            {t("resume")}
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" loading={pause.isPending} onClick={() => void askPause()} aria-label={t("pauseQueue", { queue: queue.queue })}>
            {t("pause")}
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
            {number} {jobWord(state).message.toLowerCase()}
          </Badge>
        ))}
        {Object.keys(queue.counts).length === 0 && (
          <Text size="sm" c="dimmed">
            {t("empty")}
          </Text>
        )}
      </Group>
      {failed > 0 && (
        <Button w="fit-content" size="compact-sm" variant="light" loading={redrive.isPending} onClick={() => void askRedrive()}>
          {t("tryFailedJobsAgain", { failed })}
        </Button>
      )}
    </Section>
  );
}
