import { Center, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** The frame of the pages before one is in. */
export function Door(props: { title: string; message: string; children: ReactNode }) {
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder radius="lg" p="xl" w="100%" maw={420}>
        <Stack>
          <div>
            <Text size="sm" fw={650} c="indigo">
              Cadenza
            </Text>
            <Title order={1} size="h2">
              {props.title}
            </Title>
            <Text c="dimmed" size="sm" mt={4}>
              {props.message}
            </Text>
          </div>
          {props.children}
        </Stack>
      </Paper>
    </Center>
  );
}
