//! Models and listeners that several tests share.

use lightbay_highs::event::{Flow, SolverEvent, SolverListener, StartFate};
use lightbay_highs::model::{Column, Model};

/// Keeps everything it hears.
#[derive(Default)]
pub struct Recorder(pub Vec<SolverEvent>);

impl SolverListener for Recorder {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        self.0.push(event.clone());
        Flow::Continue
    }
}

impl Recorder {
    /// Returns the fate of the start, if the solver reported one.
    pub fn fate(&self) -> Option<&StartFate> {
        self.0.iter().find_map(|event| if let SolverEvent::Start(fate) = event { Some(fate) } else { None })
    }

    /// Better points in the order in which they came, with objective and letter.
    pub fn points(&self) -> Vec<(f64, &Vec<f64>, char)> {
        self.0
            .iter()
            .filter_map(|event| match event {
                SolverEvent::Incumbent { objective, values, source } => Some((*objective, values, *source)),
                _ => None,
            })
            .collect()
    }

    /// Lines of the log.
    pub fn lines(&self) -> Vec<&str> {
        self.0
            .iter()
            .filter_map(|event| if let SolverEvent::Log(line) = event { Some(line.as_str()) } else { None })
            .collect()
    }
}

/// Numbers from 0 to 999, always the same ones.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % 1000) as f64
    }
}

/// max 3x + 2y with x + y <= 4, x + 3y <= 9, x <= 3: (3, 1), objective 11.
pub fn two_products() -> Model {
    let mut model = Model::new("two products");
    model.maximise = true;
    let x = model.column("x", 0.0, 3.0, 3.0);
    let y = model.column("y", 0.0, f64::INFINITY, 2.0);
    model.at_most("hours", 4.0, [(x, 1.0), (y, 1.0)]);
    model.at_most("stock", 9.0, [(x, 1.0), (y, 3.0)]);
    model
}

/// Ten weights, a third of the total of each.
pub fn knapsack(items: u32) -> Model {
    let mut model = Model::new("knapsack");
    model.maximise = true;
    let mut numbers = Numbers(7);
    let columns: Vec<_> =
        (0..items).map(|item| model.binary(format!("item {item}"), numbers.draw() + 1.0)).collect();
    for row in 0..10 {
        let weights: Vec<_> = columns.iter().map(|column| (*column, numbers.draw() + 1.0)).collect();
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        model.at_most(format!("weight {row}"), (total / 3.0).floor(), weights);
    }
    model
}

/// Least-cost flows of several commodities on a ring with chords.
pub fn flows(nodes: u32, commodities: u32) -> Model {
    let mut model = Model::new("flows");
    let mut numbers = Numbers(3);
    let mut arcs: Vec<(u32, u32)> = Vec::new();
    for node in 0..nodes {
        for step in [1, 3, nodes / 2] {
            arcs.push((node, (node + step) % nodes));
            arcs.push(((node + step) % nodes, node));
        }
    }
    let mut on_arc: Vec<Vec<Column>> = vec![Vec::new(); arcs.len()];
    for commodity in 0..commodities {
        let (from, to) = (commodity % nodes, (commodity * 7 + nodes / 2) % nodes);
        let columns: Vec<Column> = arcs
            .iter()
            .enumerate()
            .map(|(arc, (tail, head))| {
                let name = format!("flow {commodity} on {tail}-{head}");
                let column = model.column(name, 0.0, f64::INFINITY, 1.0 + numbers.draw() / 100.0);
                on_arc[arc].push(column);
                column
            })
            .collect();
        for node in 0..nodes {
            let terms = arcs.iter().zip(&columns).filter_map(|((tail, head), column)| {
                if *tail == node {
                    Some((*column, 1.0))
                } else if *head == node {
                    Some((*column, -1.0))
                } else {
                    None
                }
            });
            let supply = if from == to {
                0.0
            } else if node == from {
                1.0
            } else if node == to {
                -1.0
            } else {
                0.0
            };
            model.equal(format!("balance {commodity} at {node}"), supply, terms.collect::<Vec<_>>());
        }
    }
    for (arc, columns) in on_arc.iter().enumerate() {
        let capacity = 1.0 + f64::from(commodities) / 12.0;
        model.at_most(format!("capacity {arc}"), capacity, columns.iter().map(|column| (*column, 1.0)));
    }
    model
}

/// Returns a facility location model: open sites so that every client is served. Sites are whole, shares are not.
pub fn sites(sites: u32, clients: u32) -> Model {
    let mut model = Model::new("sites");
    let mut numbers = Numbers(11);
    let open: Vec<Column> =
        (0..sites).map(|site| model.binary(format!("open {site}"), 300.0 + numbers.draw())).collect();
    let mut loads: Vec<Vec<(Column, f64)>> = vec![Vec::new(); sites as usize];
    for client in 0..clients {
        let demand = 1.0 + numbers.draw() / 300.0;
        let shares: Vec<Column> = (0..sites)
            .map(|site| {
                let name = format!("share of client {client} from {site}");
                model.column(name, 0.0, 1.0, 20.0 + numbers.draw())
            })
            .collect();
        for (site, share) in shares.iter().enumerate() {
            loads[site].push((*share, demand));
            model.at_most(
                format!("client {client} needs site {site}"),
                0.0,
                [(*share, 1.0), (open[site], -1.0)],
            );
        }
        model.equal(format!("client {client}"), 1.0, shares.iter().map(|share| (*share, 1.0)));
    }
    for (site, mut load) in loads.into_iter().enumerate() {
        load.push((open[site], -8.0));
        model.at_most(format!("capacity of {site}"), 0.0, load);
    }
    model
}
