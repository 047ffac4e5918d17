// What was said with the network, for those who may act on it: folded away, each with a way to copy it.
import { Button, Code, Collapse, CopyButton, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCheck, IconChevronDown, IconChevronRight, IconCopy } from "@tabler/icons-react";

import type { Schemas } from "../../api/client";
import { t } from "../../messages/activity";

export type Exchange = Schemas["Exchange"];

const steps: Record<Exchange["step"], string> = {
  prepare: t("preparing"),
  publish: t("publishing"),
  finish: t("followUp"),
  find_out: t("checkingIfItWasPublished"),
};

/** The exchanges of one call, behind a button. */
export function Exchanges({ exchanges }: { exchanges: Exchange[] }) {
  const [opened, { toggle }] = useDisclosure();
  if (exchanges.length === 0) return null;
  const Arrow = opened ? IconChevronDown : IconChevronRight;
  return (
    <>
      <Button w="fit-content" mt={4} size="compact-xs" variant="default" aria-expanded={opened} leftSection={<Arrow size={14} aria-hidden />} onClick={toggle}>
        {t("requestsAndResponses")}{exchanges.length > 1 && ` (${exchanges.length})`}
      </Button>
      <Collapse expanded={opened}>
        <Stack component="ol" gap="md" p={0} mt="xs" mb={0} style={{ listStyle: "none" }}>
          {exchanges.map((each) => (
            <li key={each.id}>
              <One exchange={each} />
            </li>
          ))}
        </Stack>
      </Collapse>
    </>
  );
}

function One({ exchange }: { exchange: Exchange }) {
  return (
    <Stack gap={4}>
      {exchange.left_out > 0 && (
        <Text size="xs" c="dimmed">
          {t("earlierRequestsWerentKept", { leftOut: exchange.left_out })}
        </Text>
      )}
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {steps[exchange.step]}: {exchange.method} {exchange.place}
        </Text>
        <CopyButton value={asText(exchange)}>
          {({ copied, copy }) => (
            <Button flex="none" size="compact-xs" variant="default" leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />} onClick={copy}>
              {copied ? t("copied") : t("copy")}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Block name={t("request")} text={sent(exchange)} />
      <Block name={t("responseAfterNumberS", { number: exchange.seconds.toFixed(1) })} text={cameBack(exchange)} />
    </Stack>
  );
}

function Block({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Code block tabIndex={0} role="group" aria-label={name} mah={260} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", overflowY: "auto" }}>
        {text}
      </Code>
    </div>
  );
}

function lines(headers: Record<string, string>, body: string | null): string {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [...named, ...(body === null || body === "" ? [] : [...(named.length > 0 ? [""] : []), body])].join("\n");
}

function sent(exchange: Exchange): string {
  return lines(exchange.headers, exchange.body) || t("noContentOnlyTheUrl");
}

function cameBack(exchange: Exchange): string {
  const status = exchange.status === null ? "" : `${exchange.method === "SMTP" ? t("reply") : t("status")} ${exchange.status}\n`;
  return (status + lines(exchange.reply_headers, exchange.reply) + (exchange.message === "" ? "" : `\n${exchange.message}`)).trim() || t("noResponse");
}

/** An exchange as one text, for a report to the network's support. */
export function asText(exchange: Exchange): string {
  return t("exchangeReport", { beganAt: exchange.began_at, method: exchange.method, place: exchange.place, sent: sent(exchange), repeat: "-".repeat(20), number: exchange.seconds.toFixed(1), cameBack: cameBack(exchange) });
}
