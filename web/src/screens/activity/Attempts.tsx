import { Anchor, Stack, Text } from "@mantine/core";

import type { Schemas } from "../../api/client";
import { useMe } from "../../api/me";
import { Section } from "../../ui/Section";
import { moment } from "../../ui/times";

type Attempt = Schemas["Attempt"];

const words: Record<string, string> = {
  sent: "The network took it.",
  notready: "The network is not ready with it yet; we ask again.",
  trylater: "The network wants us to wait.",
  transient: "It did not work this time; it is tried again.",
  rejected: "The network refused it.",
  recipientgone: "Whom it was for is gone.",
  forbidden: "The account may not do this.",
  disconnected: "The account must be connected again.",
  unconfirmed: "We do not know whether it arrived.",
};

/** Each call to the network: when, how long, what came of it, in a plain sentence and in the network's words. */
export function Attempts({ attempts, delivery }: { attempts: Attempt[]; delivery: Schemas["Delivery"] }) {
  const me = useMe();
  const zone = delivery.zone ?? me.zone;
  return (
    <Section title="Calls to the network" says={attempts.length === 0 ? "None was made yet." : undefined}>
      {attempts.length > 0 && (
        <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
          {attempts.map((each) => (
            <li key={each.id}>
              <Text size="sm" fw={600}>
                Attempt {each.number}
                {each.part > 0 && `, part ${each.part + 1}`}: {outcomeWords(each)}
              </Text>
              <Text size="xs" c="dimmed">
                {moment(each.began_at, zone)}
                {each.ended_at !== null && `, took ${((Date.parse(each.ended_at) - Date.parse(each.began_at)) / 1000).toFixed(1)} s`}
                {each.remote_id !== null && ` · id there: ${each.remote_id}`}
              </Text>
              {each.says !== null && each.says !== "" && (
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  It answered: {each.says}
                </Text>
              )}
              {each.url !== null && (
                <Anchor size="sm" href={each.url} target="_blank" rel="noreferrer">
                  See it out there
                </Anchor>
              )}
            </li>
          ))}
        </Stack>
      )}
    </Section>
  );
}

/** What came of a call, in a plain sentence. */
export function outcomeWords(attempt: Pick<Attempt, "outcome" | "ended_at">): string {
  if (attempt.outcome === null) return attempt.ended_at === null ? "Under way." : "Ended without an answer.";
  return words[attempt.outcome.toLowerCase().replaceAll("_", "")] ?? attempt.outcome;
}
