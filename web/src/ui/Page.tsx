import { Group, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";

/** A screen: its name, one line about it, what can be done with all of it, and what is on it. */
export function Page(props: { title: string; message?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  useDocumentTitle(`${props.title} · Cadenza`);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          <Title order={1} size="h3">
            {props.title}
          </Title>
          {props.message !== undefined && (
            <Text component="div" c="dimmed" size="sm">
              {props.message}
            </Text>
          )}
        </div>
        {props.actions !== undefined && <Group gap="xs">{props.actions}</Group>}
      </Group>
      {props.children}
    </Stack>
  );
}
