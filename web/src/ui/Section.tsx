import { Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** A part of a screen with a name of its own. */
export function Section(props: { title: string; message?: ReactNode; actions?: ReactNode; children?: ReactNode }) {
  return (
    <Paper component="section" withBorder p="md" radius="md" aria-label={props.title}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="sm">
          <div>
            <Title order={2} size="h4">
              {props.title}
            </Title>
            {props.message !== undefined && (
              <Text component="div" size="sm" c="dimmed">
                {props.message}
              </Text>
            )}
          </div>
          {props.actions !== undefined && <Group gap="xs">{props.actions}</Group>}
        </Group>
        {props.children}
      </Stack>
    </Paper>
  );
}
