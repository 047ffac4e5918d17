import { Badge, Group } from "@mantine/core";
import { Link } from "react-router";

import type { Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { momentThere } from "../../ui/times";
import { standing, stateWord } from "../../ui/words";
import type { Post } from "./content";
import { t } from "../../messages/composer";

/** How a post stands on each account: words first, the colour only repeats them; each leads to its story. */
export function Pills({ post }: { post: Post }) {
  return (
    <Group gap={6} mt={4}>
      <Badge variant="outline" color={post.approved ? "teal" : "gray"}>
        {post.approved ? t("approved") : t("notApproved")}
      </Badge>
      {post.pills.map((pill) => (
        <Pill key={pill.delivery_id} pill={pill} />
      ))}
    </Group>
  );
}

export function Pill({ pill }: { pill: Schemas["PillView"] }) {
  const workspaceId = useWorkspaceId();
  const word = pill.held === null ? pill.label : `${pill.label}: ${pill.held.message}`;
  const when = momentThere(pill.at, pill.zone);
  return (
    <Badge
      component={Link}
      to={`/w/${workspaceId}/activity/${pill.delivery_id}`}
      variant="outline"
      fw={500}
      maw="100%"
      h="auto"
      mih="var(--badge-height)"
      color={pill.unfit !== null && pill.held === null ? "red" : stateWord(standing(pill)).colour}
      leftSection={<NetworkIcon of={pill.provider} size={12} />}
      style={{ cursor: "pointer" }}
      styles={{ label: { whiteSpace: "normal" } }} // on a narrow screen the time, which comes last, would be cut off
      title={pill.reason ?? undefined}
    >
      {pill.handle} · {word} · {when}
    </Badge>
  );
}
