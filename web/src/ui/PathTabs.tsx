import { Tabs } from "@mantine/core";
import type { ComponentType } from "react";
import { useNavigate, useParams } from "react-router";

import { useWorkspaceId } from "../api/me";

export interface Part {
  path: string;
  name: string;
  Shown: ComponentType;
}

/** On a phone the chosen tab may lie beyond the edge. */
const intoView = (tab: HTMLElement | null) => tab?.scrollIntoView({ block: "nearest", inline: "center" });

/** The parts of a screen as tabs, each with an address of its own. */
export function PathTabs({ screen, parts, maw }: { screen: string; parts: readonly Part[]; maw?: number }) {
  const { "*": path } = useParams();
  const go = useNavigate();
  const workspaceId = useWorkspaceId();
  const chosen = parts.find((each) => each.path === path) ?? parts[0];
  return (
    <Tabs value={chosen?.path ?? null} onChange={(next) => next !== null && void go(`/w/${workspaceId}/${screen}/${next}`)} keepMounted={false}>
      <Tabs.List mb="md" style={{ flexWrap: "nowrap", overflowX: "auto" }}>
        {parts.map((each) => (
          <Tabs.Tab key={each.path} value={each.path} style={{ flex: "none" }} ref={each === chosen ? intoView : undefined}>
            {each.name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {parts.map(({ path: name, Shown }) => (
        <Tabs.Panel key={name} value={name} maw={maw}>
          <Shown />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
