// System status: what holds sending, who works, how late, how the networks answer.
import { Alert, Badge, Button, CopyButton, Group, Modal, Radio, SimpleGrid, Stack, Table, Text } from "@mantine/core";
import { IconAlertTriangle, IconLock } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Page } from "../../ui/Page";
import { Section } from "../../ui/Section";
import { ago, fromNow, momentThere } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { count, networkName } from "../../ui/words";

type Shown = Schemas["System"];
const often = 5_000;

export default function System() {
  const workspaceId = useWorkspaceId();
  const { instance_owner } = useMe();
  const system = useQuery({
    queryKey: [workspaceId, "system"],
    queryFn: () => take(api.GET("/api/v1/system")),
    refetchInterval: often,
    enabled: instance_owner,
  });
  if (!instance_owner) {
    return (
      <Page title="System">
        <Empty icon={IconLock} title="For owners of this installation">
          Whoever runs this Cadenza can see its workers, clocks and networks.
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="System" says="How this installation is: who works, how late, how the networks answer." actions={system.data && <CopyDiagnosis of={system.data} />}>
      <Fetched query={system}>
        {(shown) => (
          <Stack>
            {shown.hold !== null && <Hold hold={shown.hold} />}
            <Facts of={shown} />
            <Workers of={shown} />
            <InHand of={shown} />
            <Networks of={shown} />
          </Stack>
        )}
      </Fetched>
    </Page>
  );
}

type Overdue = Schemas["ConfirmInput"]["overdue"];

const choices: { value: Overdue; label: string; description: string }[] = [
  { value: "check", label: "Leave them as missed", description: "Some may have been published. Check each one, then reschedule what isn't online." },
  { value: "next_slot", label: "Move them to the next free slots", description: "Only if none of them was published." },
  { value: "now", label: "Send them now, one after the other", description: "Only if none of them was published." },
  { value: "draft", label: "Turn them back into drafts", description: "Nothing overdue is sent. Decide about each one later." },
];

/** Why nothing is sent, what that means, and how to go on. */
function Hold({ hold }: { hold: NonNullable<Shown["hold"]> }) {
  const { zone } = useMe();
  const [asking, setAsking] = useState(false);
  return (
    <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title="All sending is held">
      <Stack gap="xs">
        <Text size="sm">
          {sentence(hold.says)} Held since {momentThere(hold.since, zone)}.
        </Text>
        {hold.overdue > 0 && (
          <Text size="sm">{count(hold.overdue, "post")} came due since the backup. They may be online already, so they are marked as missed.</Text>
        )}
        <Button w="fit-content" color="red" onClick={() => setAsking(true)}>
          Resume sending…
        </Button>
      </Stack>
      {asking && <ConfirmDialog hold={hold} onClose={() => setAsking(false)} />}
    </Alert>
  );
}

const sentence = (says: string): string => `${says.charAt(0).toUpperCase()}${says.slice(1)}.`;

function ConfirmDialog({ hold, onClose }: { hold: NonNullable<Shown["hold"]>; onClose: () => void }) {
  const [overdue, setOverdue] = useState<Overdue>("check");
  const confirm = useAct("workspace", () => take(api.POST("/api/v1/system/confirm", { body: { overdue } })), { done: told });
  return (
    <Modal opened onClose={onClose} title="Resume sending" size="lg">
      <Stack>
        <Text size="sm">
          {hold.kind === "restore"
            ? "Everything that was due between the backup and now may have been published already. Look at your accounts before you go on. Posts that are due later go out as planned."
            : "If the clock is still wrong, posts go out at the wrong time. Check the database server's clock before you go on."}
        </Text>
        {hold.overdue > 0 && (
          <Radio.Group label={`${count(hold.overdue, "overdue post")}`} value={overdue} onChange={(said) => setOverdue(said as Overdue)}>
            <Stack gap="xs" mt="xs">
              {choices.map((each) => (
                <Radio key={each.value} {...each} />
              ))}
            </Stack>
          </Radio.Group>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={confirm.isPending} onClick={() => confirm.mutate(undefined, { onSuccess: onClose })}>
            Resume sending
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function told({ missed, moved, drafts }: Schemas["ConfirmedView"]): string {
  const left = missed - moved - drafts;
  const parts = [
    "Sending goes on.",
    moved > 0 && `${count(moved, "post")} got a new time.`,
    drafts > 0 && `${count(drafts, "post")} went back to drafts.`,
    left > 0 && `${count(left, "post")} stayed missed: see Needs attention.`,
  ];
  return parts.filter((part) => part !== false).join(" ");
}

function Facts({ of }: { of: Shown }) {
  const late = of.delivery_lag_seconds > 60;
  const skewed = Math.abs(of.clock_skew_seconds) > 5;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
      <Fact name="Delay" value={`${Math.round(of.delivery_lag_seconds)} s`} bad={late} says={late ? "Something due waits for a worker" : "On schedule"} />
      <Fact
        name="This machine's clock"
        value={skewWords(of.clock_skew_seconds)}
        bad={skewed}
        says={skewed ? "Set it: everything goes by the database's clock" : `${agrees(of.clock_skew_seconds) ? "With" : "Of"} the database's clock`}
      />
      <Fact name="Mails waiting" value={String(of.notices_waiting)} says="Due and not handed over" />
      <Fact name="Time zone data" value={of.tz_version} says="Version in use" />
      <Fact name="Cadenza" value={of.version} says="Version" />
    </SimpleGrid>
  );
}

const agrees = (seconds: number): boolean => Math.abs(seconds) < 0.05;

/** "Agrees", "1.5 s ahead", "2.0 s behind" */
function skewWords(seconds: number): string {
  if (agrees(seconds)) return "Agrees";
  return `${Math.abs(seconds).toFixed(1)} s ${seconds > 0 ? "ahead" : "behind"}`;
}

const outcomes: Record<string, string> = {
  notready: "not ready",
  trylater: "asked to wait",
  transient: "did not work",
  rejected: "refused",
  recipientgone: "recipient gone",
  forbidden: "not allowed",
  disconnected: "signed out",
  unconfirmed: "unconfirmed",
};

function Fact(props: { name: string; value: string; says: string; bad?: boolean }) {
  return (
    <Section title={props.name}>
      <Text size="xl" fw={650}>
        {props.value}
      </Text>
      <Text size="xs" fw={props.bad === true ? 700 : undefined} c={props.bad === true ? undefined : "dimmed"}>
        {props.bad === true && "Look here: "}
        {props.says}
      </Text>
    </Section>
  );
}

function Workers({ of }: { of: Shown }) {
  const now = useNow(5_000);
  return (
    <Section title="Workers" says="They send and do the background work.">
      {of.workers.length === 0 ? (
        <Alert color="red" title="No worker gives a sign of life">
          Nothing goes out. Start one with <code>cadenza worker</code>, or everything with <code>cadenza up</code>.
        </Alert>
      ) : (
        <Rows of="Workers" heads={["Name", "Seen", "Busy", "Clock", "Started"]}>
          {of.workers.map((each) => (
            <Table.Tr key={each.name}>
              <Table.Td>
                <Text size="sm">{each.name}</Text>
                <Text size="xs" c="dimmed">
                  {each.queues.join(", ")} · {each.version}
                </Text>
              </Table.Td>
              <Table.Td>{ago(each.seen_at, now)}</Table.Td>
              <Table.Td>
                {each.running} of {each.concurrency}
              </Table.Td>
              <Table.Td>{skewWords(each.clock_skew_seconds)}</Table.Td>
              <Table.Td>{ago(each.started_at, now)}</Table.Td>
            </Table.Tr>
          ))}
        </Rows>
      )}
    </Section>
  );
}

const held = { deliveries: (number: number) => count(number, "delivery", "deliveries"), jobs: (number: number) => count(number, "job") };

/** The leases: what each worker has taken, and when another may take it over. */
function InHand({ of }: { of: Shown }) {
  const now = useNow(5_000);
  return (
    <Section title="In progress" says="What workers are sending now. If a worker stops, another one takes over when its lease runs out.">
      {of.leases.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing is in hand at the moment.
        </Text>
      ) : (
        <Rows of="In progress" heads={["Worker", "Holds", "Runs out"]}>
          {of.leases.map((each) => (
            <Table.Tr key={`${each.worker} ${each.kind}`}>
              <Table.Td>{each.worker || "Unknown"}</Table.Td>
              <Table.Td>{held[each.kind](each.held)}</Table.Td>
              <Table.Td>
                {fromNow(each.ends_at, now)}
                {each.lapsed > 0 && (
                  <Text size="sm" fw={700}>
                    Look here: {each.lapsed} ran out and wait{each.lapsed === 1 && "s"} for another worker
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Rows>
      )}
    </Section>
  );
}

function Rows(props: { of: string; heads: string[]; children: ReactNode }) {
  return (
    <Table.ScrollContainer minWidth={520} scrollAreaProps={{ viewportProps: { tabIndex: 0, "aria-label": props.of } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {props.heads.map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{props.children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Networks({ of }: { of: Shown }) {
  return (
    <Section title="Networks" says="What became of the calls of the last 24 hours.">
      {of.providers.length === 0 ? (
        <Text size="sm" c="dimmed">
          No network was called within a day.
        </Text>
      ) : (
        <Stack gap="sm">
          {of.providers.map((each) => (
            <Group key={each.provider} justify="space-between">
              <Group gap="xs">
                <NetworkIcon of={each.provider} />
                <Text size="sm">{networkName(each.provider)}</Text>
              </Group>
              <Group gap="xs">
                <Text size="sm">
                  {each.sent} of {count(each.calls, "call")} sent
                </Text>
                {Object.entries(each.outcomes)
                  .filter(([outcome]) => outcome.toLowerCase() !== "sent")
                  .map(([outcome, number]) => (
                    <Badge key={outcome} variant="outline" color="orange">
                      {number} {outcomes[outcome.toLowerCase()] ?? outcome}
                    </Badge>
                  ))}
              </Group>
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function CopyDiagnosis({ of }: { of: Shown }) {
  return (
    <CopyButton value={JSON.stringify({ ...of, browser: navigator.userAgent }, null, 2)}>
      {({ copied, copy }) => (
        <Button variant="default" size="compact-md" onClick={copy}>
          {copied ? "Copied" : "Copy for a bug report"}
        </Button>
      )}
    </CopyButton>
  );
}
