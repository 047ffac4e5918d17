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
import { networkName } from "../../ui/words";
import { t } from "../../messages/system";

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
      <Page title={t("system")}>
        <Empty icon={IconLock} title={t("onlyForThePeopleWhoRun")}>
          {t("onlyThePeopleWhoRunThis")}
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={t("system")} message={t("theHealthOfThisServerWorkers")} actions={system.data && <CopyDiagnosis of={system.data} />}>
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
  { value: "check", label: t("leaveAsMissed"), description: t("someMayHaveBeenPublishedCheck") },
  { value: "next_slot", label: t("moveToTheNextFreeSlots"), description: t("onlyIfNoneOfThemWas") },
  { value: "now", label: t("sendNowOneAfterAnother"), description: t("onlyIfNoneOfThemWas") },
  { value: "draft", label: t("moveToDrafts"), description: t("nothingOverdueIsSentDecideAbout") },
];

/** Why nothing is sent, what that means, and how to go on. */
function Hold({ hold }: { hold: NonNullable<Shown["hold"]> }) {
  const { zone } = useMe();
  const [asking, setAsking] = useState(false);
  return (
    <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title={t("sendingIsOnHold")}>
      <Stack gap="xs">
        <Text size="sm">
          {t("sentenceOnHoldSinceTime", { sentence: sentence(hold.message), time: momentThere(hold.since, zone) })}
        </Text>
        {hold.overdue > 0 && (
          <Text size="sm">{t("postsWereDueSinceTheBackup", { overdue: hold.overdue })}</Text>
        )}
        <Button w="fit-content" color="red" onClick={() => setAsking(true)}>
          {t("resumeSendingDots")}
        </Button>
      </Stack>
      {asking && <ConfirmDialog hold={hold} onClose={() => setAsking(false)} />}
    </Alert>
  );
}

const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

function ConfirmDialog({ hold, onClose }: { hold: NonNullable<Shown["hold"]>; onClose: () => void }) {
  const [overdue, setOverdue] = useState<Overdue>("check");
  const confirm = useAct("workspace", () => take(api.POST("/api/v1/system/confirm", { body: { overdue } })), { done: told });
  return (
    <Modal opened onClose={onClose} title={t("resumeSending")} size="lg">
      <Stack>
        <Text size="sm">
          {hold.kind === "restore"
            ? t("anythingDueBetweenTheBackupAnd")
            : t("ifTheClockIsStillWrong")}
        </Text>
        {hold.overdue > 0 && (
          <Radio.Group label={t("overduePosts", { overdue: hold.overdue })} value={overdue} onChange={(said) => setOverdue(said as Overdue)}>
            <Stack gap="xs" mt="xs">
              {choices.map((each) => (
                <Radio key={each.value} {...each} />
              ))}
            </Stack>
          </Radio.Group>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("cancel")}
          </Button>
          <Button color="red" loading={confirm.isPending} onClick={() => confirm.mutate(undefined, { onSuccess: onClose })}>
            {t("resumeSending")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function told({ missed, moved, drafts }: Schemas["ConfirmedView"]): string {
  const left = missed - moved - drafts;
  const parts = [
    t("sendingResumed"),
    moved > 0 && t("postsRescheduled", { moved }),
    drafts > 0 && t("postsMovedToDrafts", { drafts }),
    left > 0 && t("postsAreStillMissedSeeNeeds", { left }),
  ];
  return parts.filter((part) => part !== false).join(" ");
}

function Facts({ of }: { of: Shown }) {
  const late = of.delivery_lag_seconds > 60;
  const skewed = Math.abs(of.clock_skew_seconds) > 5;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
      <Fact name={t("delay")} value={`${Math.round(of.delivery_lag_seconds)} s`} bad={late} message={late ? t("postsAreWaitingForAWorker") : t("onSchedule")} />
      <Fact
        name={t("serverClock")}
        value={skewWords(of.clock_skew_seconds)}
        bad={skewed}
        message={skewed ? t("setItRightTheDatabasesClock") : t("comparedWithTheDatabasesClock")}
      />
      <Fact name={t("emailsWaiting")} value={String(of.notices_waiting)} message={t("notSentYet")} />
      <Fact name={t("timeZoneData")} value={of.tz_version} message={t("versionInUse")} />
      <Fact name="Cadenza" value={of.version} message={t("version")} />
    </SimpleGrid>
  );
}

const agrees = (seconds: number): boolean => Math.abs(seconds) < 0.05;

/** "Agrees", "1.5 s ahead", "2.0 s behind" */
function skewWords(seconds: number): string {
  if (agrees(seconds)) return t("inSync");
  const size = Math.abs(seconds).toFixed(1);
  return seconds > 0 ? t("clockAhead", { seconds: size }) : t("clockBehind", { seconds: size });
}

const outcomes: Record<string, string> = {
  notready: t("notReady"),
  trylater: t("toldToWait"),
  transient: t("failedForNow"),
  rejected: t("rejected"),
  recipientgone: t("recipientGone"),
  forbidden: t("notAllowed"),
  disconnected: t("disconnected"),
  unconfirmed: t("unconfirmed"),
};

function Fact(props: { name: string; value: string; message: string; bad?: boolean }) {
  return (
    <Section title={props.name}>
      <Text size="xl" fw={650}>
        {props.value}
      </Text>
      <Text size="xs" fw={props.bad === true ? 700 : undefined} c={props.bad === true ? undefined : "dimmed"}>
        {props.bad === true && t("checkThis")}
        {props.message}
      </Text>
    </Section>
  );
}

function Workers({ of }: { of: Shown }) {
  const now = useNow(5_000);
  return (
    <Section title={t("workers")} message={t("theySendPostsAndDoBackground")}>
      {of.workers.length === 0 ? (
        <Alert color="red" title={t("noWorkerIsRunning")}>
          {t.rich("startWorker", { code: (command) => <code>{command}</code> })}
        </Alert>
      ) : (
        <Rows of={t("workers")} heads={[t("name"), t("lastSeen"), t("busy"), t("clock"), t("started")]}>
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
                {t("runningOfConcurrency", { running: each.running, concurrency: each.concurrency })}
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

const held = { deliveries: (number: number) => t("posts", { number }), jobs: (number: number) => t("jobs", { number }) };

/** The leases: what each worker has taken, and when another may take it over. */
function InHand({ of }: { of: Shown }) {
  const now = useNow(5_000);
  return (
    <Section title={t("inProgress")} message={t("whatWorkersAreDoingNowIf")}>
      {of.leases.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("nothingInProgressRightNow")}
        </Text>
      ) : (
        <Rows of={t("inProgress")} heads={[t("worker"), t("workingOn"), t("takesOver")]}>
          {of.leases.map((each) => (
            <Table.Tr key={`${each.worker} ${each.kind}`}>
              <Table.Td>{each.worker || t("unknown")}</Table.Td>
              <Table.Td>{held[each.kind](each.held)}</Table.Td>
              <Table.Td>
                {fromNow(each.ends_at, now)}
                {each.lapsed > 0 && (
                  <Text size="sm" fw={700}>
                    {t("lapsed", { lapsed: each.lapsed })}
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
    <Section title={t("networks")} message={t("resultsOfTheLast24Hours")}>
      {of.providers.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("noCallsToday")}
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
                  {t("sentOfCallsSent", { sent: each.sent, calls: each.calls })}
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
          {copied ? t("copied") : t("copyForBugReport")}
        </Button>
      )}
    </CopyButton>
  );
}
