import { Button, Group, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconCheck, IconClockPause, IconX } from "@tabler/icons-react";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { Section } from "../../ui/Section";
import { fromNow, momentThere, onClock } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { t } from "../../messages/activity";

interface Gate {
  passed: boolean;
  message: string;
  until?: string | null;
  ends?: string;
  who?: string | null;
}

const names: Record<string, string> = {
  installation: t("server"),
  "still wanted": t("approvedAndNotCanceled"),
  suppression: t("recipientAcceptsMessages"),
  recipient: t("recipient"),
  "recipient cap": t("limitPerRecipient"),
  content: t("content"),
  workspace: t("workspace"),
  account: t("account"),
  lane: t("queue"),
  hours: t("sendingHours"),
  "recipient hours": t("recipientHours"),
  network: t("network"),
  "max per day": t("postsPerDay"),
  "provider rate": t("networkLimit"),
  budgets: t("accountLimits"),
};

/** Every gate in the order in which the pipeline asks it, with what it answered and who can change that. */
export function Gates(props: { gates: Record<string, unknown>; judgedAt: string; zone: string; accountId: string }) {
  const now = useNow();
  const { zone } = props;
  return (
    <Section title={t("checksBeforeSending")}>
      {Date.parse(props.judgedAt) > now.getTime() && (
        <Text size="xs" c="dimmed">
          {t("whatWeExpectWhenItsDue", { time: momentThere(props.judgedAt, zone) })}
        </Text>
      )}
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
        {(Object.entries(props.gates) as [string, Gate][]).map(([name, gate]) => (
          <li key={name}>
            <Group wrap="nowrap" align="flex-start" gap="sm">
              <Mark gate={gate} />
              <div style={{ flex: 1, minWidth: 0 }}>
                <Text size="sm" fw={600}>
                  {names[name] ?? name}: {gate.passed ? t("ok") : gate.ends === undefined ? t("waiting") : t("stopped")}
                </Text>
                <Text size="sm">{onClock(gate.message, zone)}</Text>
                {typeof gate.until === "string" && (
                  <Text size="xs" c="dimmed">
                    {t("okFromTimeWhen", { time: momentThere(gate.until, zone), when: fromNow(gate.until, now) })}
                  </Text>
                )}
                {!gate.passed && typeof gate.who === "string" && (
                  <Text size="xs" c="dimmed">
                    {t("whoCanChangeThisWho", { who: gate.who })}
                  </Text>
                )}
                {!gate.passed && <Fix name={name} accountId={props.accountId} />}
              </div>
            </Group>
          </li>
        ))}
      </Stack>
    </Section>
  );
}

function Mark({ gate }: { gate: Gate }) {
  const Picture = gate.passed ? IconCheck : gate.ends === undefined ? IconClockPause : IconX;
  return (
    <ThemeIcon size="sm" radius="xl" variant="light" color={gate.passed ? "teal" : gate.ends === undefined ? "yellow" : "red"} aria-hidden>
      <Picture size={14} />
    </ThemeIcon>
  );
}

/** The way to where the blocked thing can be changed. */
function Fix({ name, accountId }: { name: string; accountId: string }) {
  const workspaceId = useWorkspaceId();
  const places: Record<string, [string, string]> = {
    installation: ["system", t("openSystemStatus")],
    workspace: ["settings/workspace", t("resumeTheWorkspace")],
    account: [`accounts?account=${accountId}`, t("reconnectTheAccount")],
    lane: [`queue?account=${accountId}`, t("openQueue")],
    hours: [`accounts?account=${accountId}`, t("changeHours")],
    budgets: [`accounts?account=${accountId}`, t("viewLimits")],
  };
  const place = places[name];
  if (place === undefined) return null;
  return (
    <Button mt={4} size="compact-xs" variant="default" component={Link} to={`/w/${workspaceId}/${place[0]}`}>
      {place[1]}
    </Button>
  );
}
