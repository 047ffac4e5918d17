import { Anchor, Stack, Text } from "@mantine/core";

import type { Schemas } from "../../api/client";
import { Section } from "../../ui/Section";
import { momentThere } from "../../ui/times";
import { asSentence } from "../../ui/words";
import { Exchanges, type Exchange } from "./Exchanges";
import { Fix } from "./Fix";
import { t } from "../../messages/activity";

type Attempt = Schemas["Attempt"];

/** Each call to the network: what came of it in a plain sentence and in the network's words, and what mends it. */
export function Attempts(props: { attempts: Attempt[]; exchanges: Exchange[]; delivery: Schemas["Delivery"]; zone: string }) {
  const { attempts, exchanges, delivery, zone } = props;
  const before = exchanges.filter(({ attempt_id }) => attempt_id === null);
  return (
    <Section title={t("attempts")} message={attempts.length === 0 ? t("noAttemptsYet") : undefined}>
      {attempts.length > 0 && (
        <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: "none" }}>
          {attempts.map((each) => (
            <li key={each.id}>
              <Text size="sm" fw={600}>
                {t("attempt", { number: each.number, part: each.part > 0 ? each.part + 1 : 0, outcome: each.sentence })}
              </Text>
              <Text size="xs" c="dimmed">
                {momentThere(each.began_at, zone)}
                {each.ended_at !== null && t("tookTook", { took: took(each.began_at, each.ended_at) })}
                {each.remote_id !== null && t("postIdRemoteId", { remoteId: each.remote_id })}
              </Text>
              {each.message !== null && each.message !== "" && (
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {asSentence(each.message)}
                </Text>
              )}
              {each.url !== null && (
                <Anchor size="sm" href={each.url} target="_blank" rel="noreferrer">
                  {t("viewPost")}
                </Anchor>
              )}
              <Fix fix={each.fix} delivery={delivery} />
              <Exchanges exchanges={exchanges.filter(({ attempt_id }) => attempt_id === each.id)} />
            </li>
          ))}
        </Stack>
      )}
      {before.length > 0 && (
        <div>
          <Text size="sm">{t("preparedBeforeSending")}</Text>
          <Exchanges exchanges={before} />
        </div>
      )}
    </Section>
  );
}

function took(began: string, ended: string): string {
  const seconds = (Date.parse(ended) - Date.parse(began)) / 1000;
  return seconds < 0.1 ? t("lessThan01S") : `${seconds.toFixed(1)} s`;
}
