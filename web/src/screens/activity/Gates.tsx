import { Button, Group, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconCheck, IconClockPause, IconX } from "@tabler/icons-react";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { Section } from "../../ui/Section";
import { fromNow, moment, onClock, placeOf } from "../../ui/times";
import { useNow } from "../../ui/useNow";

interface Gate {
  passed: boolean;
  says: string;
  until?: string | null;
  ends?: string;
  who?: string | null;
}

const names: Record<string, string> = {
  installation: "The installation",
  "still wanted": "Wanted and approved",
  suppression: "May be written to",
  recipient: "The recipient",
  "recipient cap": "Limit for one recipient",
  content: "What it says",
  workspace: "The workspace",
  account: "The account",
  lane: "The account's queue",
  hours: "Hours",
  network: "The network",
  "max per day": "Most posts a day",
  "provider rate": "The network's own limit",
  budgets: "Limits",
};

/** Every gate in the order in which the pipeline asks it, with what it answered and who can change that. */
export function Gates(props: { gates: Record<string, unknown>; judgedAt: string; zone: string; accountId: string }) {
  const now = useNow();
  const { zone } = props;
  return (
    <Section title="Checks before sending">
      {Date.parse(props.judgedAt) > now.getTime() && (
        <Text size="xs" c="dimmed">
          As it will be when it is due, {moment(props.judgedAt, zone)} {placeOf(zone)}
        </Text>
      )}
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
        {(Object.entries(props.gates) as [string, Gate][]).map(([name, gate]) => (
          <li key={name}>
            <Group wrap="nowrap" align="flex-start" gap="sm">
              <Mark gate={gate} />
              <div style={{ flex: 1, minWidth: 0 }}>
                <Text size="sm" fw={600}>
                  {names[name] ?? name}: {gate.passed ? "passes" : gate.ends === undefined ? "blocks" : "ends it"}
                </Text>
                <Text size="sm">{onClock(gate.says, zone)}</Text>
                {typeof gate.until === "string" && (
                  <Text size="xs" c="dimmed">
                    Passes {moment(gate.until, zone)} {placeOf(zone)} ({fromNow(gate.until, now)})
                  </Text>
                )}
                {!gate.passed && typeof gate.who === "string" && (
                  <Text size="xs" c="dimmed">
                    Can change it: {gate.who}
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
    installation: ["system", "Look at the system"],
    workspace: ["settings/workspace", "Let the workspace go on"],
    account: [`accounts?account=${accountId}`, "Connect the account again"],
    lane: [`queue?account=${accountId}`, "Open the queue"],
    hours: [`accounts?account=${accountId}`, "Change the hours"],
    budgets: [`accounts?account=${accountId}`, "Look at the limits"],
  };
  const place = places[name];
  if (place === undefined) return null;
  return (
    <Button mt={4} size="compact-xs" variant="default" component={Link} to={`/w/${workspaceId}/${place[0]}`}>
      {place[1]}
    </Button>
  );
}
