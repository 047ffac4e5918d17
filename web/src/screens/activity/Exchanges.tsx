// What was said with the network, for those who may act on it: folded away, each with a way to copy it.
import { Button, Code, Collapse, CopyButton, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCheck, IconChevronDown, IconChevronRight, IconCopy } from "@tabler/icons-react";

import type { Schemas } from "../../api/client";

export type Exchange = Schemas["Exchange"];

const steps: Record<Exchange["step"], string> = {
  prepare: "Preparing",
  publish: "Publishing",
  finish: "Afterwards",
  find_out: "Looking whether it is there",
};

/** The exchanges of one call, behind a button. */
export function Exchanges({ exchanges }: { exchanges: Exchange[] }) {
  const [opened, { toggle }] = useDisclosure();
  if (exchanges.length === 0) return null;
  const Arrow = opened ? IconChevronDown : IconChevronRight;
  return (
    <>
      <Button w="fit-content" mt={4} size="compact-xs" variant="default" aria-expanded={opened} leftSection={<Arrow size={14} aria-hidden />} onClick={toggle}>
        What was sent, what came back{exchanges.length > 1 && ` (${exchanges.length})`}
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
          … {exchange.left_out} more before this were not kept …
        </Text>
      )}
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {steps[exchange.step]}: {exchange.method} {exchange.place}
        </Text>
        <CopyButton value={asText(exchange)}>
          {({ copied, copy }) => (
            <Button flex="none" size="compact-xs" variant="default" leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />} onClick={copy}>
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Block name="What was sent" text={sent(exchange)} />
      <Block name={`What came back after ${exchange.seconds.toFixed(1)} s`} text={cameBack(exchange)} />
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
  return lines(exchange.headers, exchange.body) || "Nothing but the address.";
}

function cameBack(exchange: Exchange): string {
  const status = exchange.status === null ? "" : `${exchange.method === "SMTP" ? "Reply" : "Status"} ${exchange.status}\n`;
  return (status + lines(exchange.reply_headers, exchange.reply) + (exchange.says === "" ? "" : `\n${exchange.says}`)).trim() || "Nothing.";
}

/** An exchange as one text, for a report to the network's support. */
export function asText(exchange: Exchange): string {
  return `${exchange.began_at}  ${exchange.method} ${exchange.place}\n\n${sent(exchange)}\n\n${"-".repeat(20)} after ${exchange.seconds.toFixed(1)} s\n\n${cameBack(exchange)}\n`;
}
