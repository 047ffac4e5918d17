import { Stack, Text, ThemeIcon, Title } from "@mantine/core";
import type { Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";

/** Nothing here yet: why that is, and the one thing to do about it. */
export function Empty(props: { icon: Icon; title: string; children: ReactNode; action?: ReactNode }) {
  const Picture = props.icon;
  return (
    <Stack align="center" gap="xs" py={56} px="md" ta="center">
      <ThemeIcon size={52} radius="xl" variant="light" aria-hidden>
        <Picture size={28} />
      </ThemeIcon>
      <Title order={3} size="h4">
        {props.title}
      </Title>
      <Text c="dimmed" maw={440}>
        {props.children}
      </Text>
      {props.action}
    </Stack>
  );
}
