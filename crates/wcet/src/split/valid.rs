//! Whether the numbers of a model name something, and the names of its nodes for messages.

use super::error::SplitError;
use crate::graph::{Count, Model, NodeId, Region};

pub(crate) fn name(model: &Model, node: NodeId) -> String {
    model.graph.nodes.get(node).map_or_else(|| node.to_string(), |n| n.name.clone())
}

/// All numbers of a model name something that exists.
pub(crate) fn check_indices(model: &Model) -> Result<(), SplitError> {
    let graph = &model.graph;
    let count = graph.nodes.len();
    let ends = [graph.entry, graph.exit].into_iter();
    let edges = graph.edges.iter().flat_map(|e| [e.from, e.to]);
    let headers = model.bounds.iter().map(|b| b.header);
    let terms = || model.facts.iter().flat_map(|f| f.terms.iter().map(|t| t.1));
    let counted = terms().filter_map(|c| if let Count::Node(v) = c { Some(v) } else { None });
    if let Some(index) = ends.chain(edges).chain(headers).chain(counted).find(|&v| v >= count) {
        return Err(SplitError::NoSuch { what: "node", index, count });
    }
    let count = graph.edges.len();
    let mut counted = terms().filter_map(|c| if let Count::Edge(e) = c { Some(e) } else { None });
    match counted.find(|&e| e >= count) {
        Some(index) => Err(SplitError::NoSuch { what: "edge", index, count }),
        None => Ok(()),
    }
}

pub(crate) fn check_regions(model: &Model, regions: &[Region]) -> Result<(), SplitError> {
    let (nodes, edges) = (model.graph.nodes.len(), model.graph.edges.len());
    for region in regions {
        if let Some(index) = [region.branch, region.join].into_iter().find(|&v| v >= nodes) {
            return Err(SplitError::NoSuch { what: "node", index, count: nodes });
        }
        if let Some(&index) = region.first.iter().chain(&region.second).find(|&&e| e >= edges) {
            return Err(SplitError::NoSuch { what: "edge", index, count: edges });
        }
    }
    Ok(())
}
