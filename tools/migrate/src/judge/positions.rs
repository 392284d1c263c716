//! The directives of a tree by their positions, with the sections around them.

use std::collections::HashMap;

use config::{At, Directive};

/// An index of a tree. A tree may be large, so that no line is searched for.
pub struct Positions<'a> {
    nodes: Vec<Node<'a>>,
    /// Indices of the directives at a position: a file may be included several times.
    by_at: HashMap<&'a At, Vec<usize>>,
}

struct Node<'a> {
    directive: &'a Directive,
    parent: Option<usize>,
}

impl<'a> Positions<'a> {
    pub fn of(tree: &'a [Directive]) -> Positions<'a> {
        let mut positions = Positions { nodes: Vec::new(), by_at: HashMap::new() };
        positions.add(tree, None);
        positions
    }

    fn add(&mut self, tree: &'a [Directive], parent: Option<usize>) {
        for directive in tree {
            let index = self.nodes.len();
            self.nodes.push(Node { directive, parent });
            self.by_at.entry(&directive.at).or_default().push(index);
            self.add(directive.section.as_deref().unwrap_or_default(), Some(index));
        }
    }

    /// The arguments of the first directive at a position, and for each directive there the lower-case names of the
    /// sections around it.
    pub fn find(&self, at: &At) -> Option<(&'a [String], Vec<Vec<String>>)> {
        let found = self.by_at.get(at)?;
        let arguments = &self.nodes[*found.first()?].directive.args;
        Some((arguments, found.iter().map(|index| self.around(*index)).collect()))
    }

    fn around(&self, index: usize) -> Vec<String> {
        let mut around = Vec::new();
        let mut next = self.nodes[index].parent;
        while let Some(index) = next {
            around.push(self.nodes[index].directive.name.to_ascii_lowercase());
            next = self.nodes[index].parent;
        }
        around.reverse();
        around
    }
}
